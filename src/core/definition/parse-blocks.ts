import type { Json } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import type { Block } from './document.ts';
import { type DocumentError, type ParseOptions, parseSequence, type Warning } from './parse-sequence.ts';
import { formatPath, shorten } from './path.ts';
import { documentError, type Problem } from './problems.ts';
import { walkBlocks } from './walk.ts';

export interface ParsedBlocks {
  readonly blocks: readonly Block[];
  readonly warnings: readonly Warning[];
}

/** Names of a document that exists only to hold the blocks; none of them is ever seen. */
const ENVELOPE = {
  id: '00000000-0000-4000-8000-000000000000',
  tenant_id: 'none',
  namespace: 'none',
  name: 'injected',
  version: 1,
  created_at: '2000-01-01T00:00:00.000Z',
};

/**
 * Checks blocks that are to be added to a running instance ([OP-9], `self_modify`) like those of a document. `takenIds`
 * are the ids of the sequence and of earlier injections, saga steps included. Every refusal is 400 here, shape errors
 * too.
 */
export function parseBlocks(
  blocks: Json,
  takenIds: ReadonlySet<string>,
  options: ParseOptions = {},
): Result<ParsedBlocks, DocumentError> {
  const parsed = parseSequence({ ...ENVELOPE, blocks }, options);
  if (!parsed.ok) return err({ ...parsed.error, status: 400 });
  const { document, warnings } = parsed.value;
  const clashes = takenBlocks(document.blocks, takenIds);
  return clashes.length === 0 ? ok({ blocks: document.blocks, warnings }) : err(documentError(400, clashes));
}

function takenBlocks(blocks: readonly Block[], takenIds: ReadonlySet<string>): readonly Problem[] {
  return [...walkBlocks(blocks)].flatMap(({ block, path }) =>
    idsOf(block)
      .filter((id) => takenIds.has(id))
      .map((id) => ({
        path: formatPath(path),
        rule: 'OP-9',
        message: `duplicate block id '${shorten(id)}'`,
        block_id: shorten(block.id),
      })),
  );
}

function idsOf(block: Block): readonly string[] {
  return block.type === 'saga' ? [block.id, ...block.steps.map((step) => step.id)] : [block.id];
}
