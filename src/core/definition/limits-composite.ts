import type {
  AbSplitBlock,
  Block,
  ForEachBlock,
  LoopBlock,
  ParallelBlock,
  RaceBlock,
  RouterBlock,
} from './document.ts';
import { checkExpression, checkNotBlank, type Report } from './limit-checks.ts';
import { shorten } from './path.ts';
import { MAX_DURATION_MS } from './times.ts';

const MAX_BRANCHES = 256;
const MAX_ITERATIONS = 100_000;
const MAX_CONCURRENT_ITEMS = 1000;
const MAX_WEIGHT = 4_294_967_295;
const MAX_POLL_INTERVAL_SECONDS = MAX_DURATION_MS / 1000;

/** The limits of everything that is not a step (LIM-6 to LIM-14, LIM-21). */
export function checkComposite(block: Exclude<Block, { type: 'step' }>, report: Report): void {
  switch (block.type) {
    case 'parallel':
      checkBranches(block, report);
      return checkMinSuccessful(block, report);
    case 'race':
      return checkBranches(block, report);
    case 'router':
      return checkRouter(block, report);
    case 'try_catch':
      if (block.try_block.length === 0) report('LIM-10', 'try_block must not be empty', ['try_block']);
      return;
    case 'loop':
      return checkLoop(block, report);
    case 'for_each':
      return checkForEach(block, report);
    case 'sub_sequence':
      return checkNotBlank(block.sequence_name, ['sequence_name'], 'LIM-11', report);
    case 'a_b_split':
      return checkVariants(block, report);
    case 'cancellation_scope':
      if (block.blocks.length === 0) report('LIM-13', 'blocks must not be empty', ['blocks']);
      return;
    case 'saga':
      // LIM-14 is a matter of shape and of ids, both checked elsewhere; an empty saga is allowed.
      return;
  }
}

function checkBranches(block: ParallelBlock | RaceBlock, report: Report): void {
  const count = block.branches.length;
  if (count < 1 || count > MAX_BRANCHES) {
    report('LIM-6', `branches must be between 1 and ${MAX_BRANCHES}, got ${count}`, ['branches']);
  }
}

function checkMinSuccessful(block: ParallelBlock, report: Report): void {
  const wanted = block.min_successful;
  if (wanted === undefined) return;
  if (wanted < 1 || wanted > block.branches.length) {
    report('B25', 'min_successful must be between 1 and the number of branches', ['min_successful']);
  }
  if (block.fail_fast === true) {
    report('B25', 'fail_fast and min_successful exclude each other', ['fail_fast']);
  }
}

function checkRouter(block: RouterBlock, report: Report): void {
  if (block.routes.length === 0 && block.default === undefined) {
    report('LIM-9', 'a router needs at least one route or a default', ['routes']);
  }
  for (const [index, route] of block.routes.entries()) {
    const path = ['routes', index, 'condition'];
    checkNotBlank(route.condition, path, 'LIM-9', report);
    checkExpression(route.condition, path, report);
  }
}

function checkLoop(block: LoopBlock, report: Report): void {
  checkNotBlank(block.condition, ['condition'], 'LIM-7', report);
  checkExpression(block.condition, ['condition'], report);
  checkExpression(block.break_on, ['break_on'], report);
  checkPasses(block, 'LIM-7', report);
  const interval = block.poll_interval;
  if (interval !== undefined && (interval < 0 || interval > MAX_POLL_INTERVAL_SECONDS)) {
    report('LIM-7', `poll_interval must be between 0 and ${MAX_POLL_INTERVAL_SECONDS} seconds`, [
      'poll_interval',
    ]);
  }
}

function checkForEach(block: ForEachBlock, report: Report): void {
  checkNotBlank(block.collection, ['collection'], 'LIM-8', report);
  checkNotBlank(block.item_var, ['item_var'], 'LIM-8', report);
  checkPasses(block, 'LIM-8', report);
  const { concurrency, tolerate } = block;
  if (concurrency !== undefined && (concurrency < 1 || concurrency > MAX_CONCURRENT_ITEMS)) {
    report('B25', `concurrency must be between 1 and ${MAX_CONCURRENT_ITEMS}`, ['concurrency']);
  }
  if (block.collect === true && block.retain_iterations !== undefined) {
    report('B25', 'collect needs the outputs of all items: leave retain_iterations out', [
      'retain_iterations',
    ]);
  }
  if (tolerate === undefined) return;
  if (block.on_item_failure === 'fail') {
    report('B25', "tolerate needs on_item_failure 'continue'", ['tolerate']);
  }
  const { count, percent } = tolerate;
  if ((count === undefined) === (percent === undefined)) {
    report('B25', 'tolerate needs either count or percent', ['tolerate']);
  }
  if (count !== undefined && count < 0) report('B25', 'count must be >= 0', ['tolerate', 'count']);
  if (percent !== undefined && (percent < 0 || percent > 100)) {
    report('B25', 'percent must be between 0 and 100', ['tolerate', 'percent']);
  }
}

function checkPasses(block: LoopBlock | ForEachBlock, rule: string, report: Report): void {
  if (block.body.length === 0) report(rule, 'body must not be empty', ['body']);
  if (block.max_iterations < 1) report(rule, 'max_iterations must be > 0', ['max_iterations']);
  else if (block.max_iterations > MAX_ITERATIONS) {
    report(rule, `max_iterations must be at most ${MAX_ITERATIONS}`, ['max_iterations']);
  }
  if (block.retain_iterations !== undefined && block.retain_iterations < 1) {
    report(rule, 'retain_iterations must be >= 1', ['retain_iterations']);
  }
}

function checkVariants(block: AbSplitBlock, report: Report): void {
  if (block.variants.length < 2) report('LIM-12', 'at least two variants are needed', ['variants']);
  const names = new Set<string>();
  let total = 0;
  for (const [index, { name, weight }] of block.variants.entries()) {
    const at = (member: string) => ['variants', index, member];
    checkNotBlank(name, at('name'), 'LIM-12', report);
    if (names.has(name)) report('LIM-12', `duplicate variant name '${shorten(name)}'`, at('name'));
    names.add(name);
    if (weight < 0 || weight > MAX_WEIGHT) {
      report('LIM-12', `weight must be between 0 and ${MAX_WEIGHT}`, at('weight'));
    }
    total += weight;
  }
  if (total <= 0) report('LIM-12', 'the sum of the weights must be > 0', ['variants']);
}
