import { advanceList, type ListEnd } from './advance.ts';
import { cancelHard } from './cancel.ts';
import { closeInstance } from './children.ts';
import { applyHappening } from './happenings.ts';
import { addRow, documentOf, type Instance, newInstance, type Sim } from './instance.ts';
import type { StepBlock } from '../../src/core/definition/document.ts';
import { breachDeadline, failAttempt, succeed, timeOut } from './leaf-result.ts';
import { outcomeOf } from './outcome.ts';
import { wakesOf, type Wake } from './wakes.ts';
import { isTerminal, nodesOf, type TreeNode } from './tree-node.ts';
import type { Outcome, World } from './world.ts';

/** More instants than any case has; beyond it something runs in circles. */
const INSTANTS_MAX = 20_000;

export interface Interpretation {
  readonly outcome: Outcome;
  /** Why nothing defines this case's order of events; null when everything is defined. */
  readonly tie: string | null;
  readonly endedAt: number;
}

/**
 * What the specification says about a case. `idOf` gives the id of the nth instance that is started; the ids only decide
 * the variants of A/B blocks. Instants are `startAt` plus those of the case.
 */
export function interpret(world: World, startAt: number, idOf: (ordinal: number) => string): Interpretation {
  const sources = [world.main, ...world.others];
  const documents = new Map(sources.map((source, index) => [source.name, documentOf(source, index)]));
  const sim: Sim = { world, documents, instances: [], idOf, now: startAt, queue: [], begins: [], tie: null };
  const document = documents.get(world.main.name);
  if (document === undefined) throw new Error('the case has no main sequence');
  const main = newInstance(sim, document, { data: world.data, config: {}, parent: null });
  const happenings = [...world.happenings];
  for (let instants = 0; instants < INSTANTS_MAX; instants += 1) {
    settleInstant(sim);
    const wakes = sim.instances.flatMap((instance) => wakesOf(instance));
    const [happening] = happenings;
    const at = Math.min(
      ...wakes.map((wake) => wake.at),
      happening === undefined ? Infinity : startAt + happening.at,
    );
    if (at === Infinity) return { outcome: outcomeOf(main), tie: sim.tie, endedAt: sim.now };
    sim.now = Math.max(sim.now, at);
    const due = wakes.filter((wake) => wake.at === at);
    const isHappening = happening !== undefined && startAt + happening.at === at;
    if (due.length + (isHappening ? 1 : 0) > 1) sim.tie ??= 'two things at one instant';
    if (isHappening) {
      happenings.shift();
      applyHappening(sim, main, happening);
    } else for (const wake of due) applyWake(sim, wake);
  }
  throw new Error('the case does not come to rest');
}

/** All that follows at one instant: the walk of every instance, calls that take no time, signals between instances. */
function settleInstant(sim: Sim): void {
  do {
    const next = sim.queue.shift();
    if (next !== undefined) next();
    else for (const begin of sim.begins.splice(0)) begin();
    for (const instance of sim.instances) advanceInstance(sim, instance);
  } while (sim.queue.length > 0 || sim.begins.length > 0);
}

/** Rounds until nothing changes (7.4), then the end of the instance (7.6). A paused instance stands still. */
function advanceInstance(sim: Sim, instance: Instance): void {
  if (instance.terminal !== null || instance.paused) return;
  const end = advanceList({ sim, instance }, instance.roots);
  if (end !== 'open') endInstance(sim, instance, end);
}

function endInstance(sim: Sim, instance: Instance, end: Exclude<ListEnd, 'open'>): void {
  if (end === 'failed') {
    for (const root of instance.roots) cancelHard({ sim, instance }, root);
    writeErrorRows(instance);
    instance.terminal = 'failed';
  } else {
    instance.terminal = end === 'cancelled' || instance.cancelRequested ? 'cancelled' : 'completed';
  }
  // An answer that no gate has taken expires with the run (SIG-8).
  instance.keptAnswers.length = 0;
  closeInstance(sim, instance);
}

/** [ERR-ROW-1] to [ERR-ROW-3]; a for_each whose collection cannot be read fails by itself, like a leaf. */
function writeErrorRows(instance: Instance): void {
  for (const node of nodesOf(instance.roots)) {
    if (node.block.type === 'saga' || node.state !== 'failed' || node.error === null || !isUnabsorbed(node))
      continue;
    const { block, error, attempt } = node;
    const hasBreach = instance.rows.some(
      (row) =>
        row.kind === 'breach' &&
        row.block === block.id &&
        row.attempt === attempt &&
        row.iteration === node.iteration,
    );
    if (hasBreach) continue;
    const output = {
      __error__: true,
      retryable: error.retryable,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
      ...(error.code === undefined ? {} : { code: error.code }),
    };
    addRow(instance, node, { kind: 'error', output, ref: '__error__', attempt });
  }
}

function isUnabsorbed(node: TreeNode): boolean {
  for (let up: TreeNode | null = node; up !== null; up = up.parent) {
    if (up.state !== 'failed' || up.absorbed || up.rolledBack) return false;
  }
  return true;
}

/**
 * An answer, or the end of the time of a handler that is called: they come whether the instance is paused or not. All
 * else that falls due is looked at by the walk, in document order.
 */
function applyWake(sim: Sim, { kind, instance, node }: Wake): void {
  const { block } = node;
  const { call } = node.leaf;
  if (block.type !== 'step' || call === null || isTerminal(node.state)) return;
  if (kind === 'answer' && call.kind !== 'sleep') return takeAnswer(sim, instance, node, block);
  if (call.kind !== 'in_process') return;
  if (kind === 'deadline') breachDeadline(sim, instance, node, block);
  if (kind === 'timeout') timeOut(sim, instance, node, block);
}

function takeAnswer(sim: Sim, instance: Instance, node: TreeNode, block: StepBlock): void {
  const { call } = node.leaf;
  if (call === null || call.answer === null || call.answer.kind === 'silent') return;
  const isWorker = call.kind === 'worker';
  const { answer, cacheKey } = call;
  if (answer.kind === 'ok') {
    return succeed(sim, instance, node, block, { output: answer.output, isWorker, cacheKey });
  }
  const { takeMs: _time, kind: _kind, ...failure } = answer;
  failAttempt(sim, instance, node, block, { failure: { ...failure, message: 'scripted' }, isWorker });
}
