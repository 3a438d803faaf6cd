import { utf8Bytes } from '../json.ts';
import type { Block, SequenceDocument } from './document.ts';
import { checkDuration, type Report } from './limit-checks.ts';
import { checkComposite } from './limits-composite.ts';
import { checkStep } from './limits-step.ts';
import type { Path } from './path.ts';
import { formatPath, shorten } from './path.ts';
import { MAX_PROBLEMS, type Problem } from './problems.ts';
import { type BlockVisit, documentLists, walkBlocks } from './walk.ts';

const MAX_LABEL_LENGTH = 255;
const MAX_ID_BYTES = 512;
const RESERVED_ID_PREFIXES = ['_interceptor:', '_sla:'];

/**
 * The semantic limits of a document that has the right shape ([PUB-3], sequences.md 3.2): every violation in document
 * order, at most 100. Number and depth of blocks and the document's size were checked before the shape.
 */
export function checkLimits(document: SequenceDocument): readonly Problem[] {
  const problems: Problem[] = [];
  checkTopLevel(document, reporter(problems, [], undefined));
  for (const { name, blocks } of documentLists(document)) {
    const ids = new Set<string>();
    for (const visit of walkBlocks(blocks, [name])) {
      if (problems.length >= MAX_PROBLEMS) return problems;
      checkBlock(visit, ids, reporter(problems, visit.path, visit.block.id));
    }
  }
  return problems;
}

function reporter(problems: Problem[], base: Path, blockId: string | undefined): Report {
  return (rule, message, path = []) => {
    problems.push({
      path: formatPath([...base, ...path]),
      rule,
      message,
      ...(blockId === undefined ? {} : { block_id: shorten(blockId) }),
    });
  };
}

function checkTopLevel(document: SequenceDocument, report: Report): void {
  checkLabel(document.tenant_id, 'tenant_id', report);
  checkLabel(document.namespace, 'namespace', report);
  checkLabel(document.name, 'name', report);
  if (document.blocks.length === 0) report('LIM-1', 'blocks must contain at least one block', ['blocks']);
  checkDuration(document.sla?.max_runtime, ['sla', 'max_runtime'], report);
  checkDuration(document.sla?.max_step_runtime, ['sla', 'max_step_runtime'], report);
}

/** `name` is bounded in bytes (2.1); the other two get the same bound, which is never wider than theirs. */
function checkLabel(value: string, name: string, report: Report): void {
  if (value.trim() === '') report('PUB-3', `${name} must not be blank`, [name]);
  if (utf8Bytes(value) > MAX_LABEL_LENGTH) {
    report('PUB-3', `${name} must have at most ${MAX_LABEL_LENGTH} bytes`, [name]);
  }
}

function checkBlock(visit: BlockVisit, ids: Set<string>, report: Report): void {
  const { block } = visit;
  checkId(block.id, ids, report, ['id']);
  if (block.type === 'saga') checkSagaIds(block, ids, report);
  if (block.type === 'step') checkStep(block, report);
  else checkComposite(block, report);
}

function checkSagaIds(block: Extract<Block, { type: 'saga' }>, ids: Set<string>, report: Report): void {
  for (const [index, step] of block.steps.entries()) checkId(step.id, ids, report, ['steps', index, 'id']);
}

function checkId(id: string, ids: Set<string>, report: Report, path: Path): void {
  if (id === '') report('LIM-4', 'a block id must not be empty', path);
  else if (ids.has(id)) report('LIM-4', `duplicate block id '${shorten(id)}'`, path);
  ids.add(id);
  if (utf8Bytes(id) > MAX_ID_BYTES) report('VAL-5', `a block id has at most ${MAX_ID_BYTES} bytes`, path);
  const reserved = RESERVED_ID_PREFIXES.find((prefix) => id.startsWith(prefix));
  if (reserved !== undefined) report('VAL-5', `ids that begin with '${reserved}' are reserved`, path);
}
