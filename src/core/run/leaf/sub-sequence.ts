import type { SubSequenceBlock } from '../../definition/document.ts';
import { resolveTemplates } from '../../expressions/template.ts';
import type { Failure } from '../../failure.ts';
import type { Json } from '../../json.ts';
import { ok } from '../../result.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { knows } from '../knows.ts';
import { mayBeginChild, useAllowance } from '../limits/budget.ts';
import type { KnownSequence } from '../knowledge.ts';
import { type Outcome, type Place, frameAt, scopeAt } from '../place.ts';
import { innerIteration } from '../plan.ts';
import { completeLeaf, failLeaf } from './end-leaf.ts';
import { freshLeaf } from './fresh-leaf.ts';

const DEPTH_MAX = 16;

/** 9.7: one child per entry of the node; its end completes or fails the leaf. */
export function runSubSequence(draft: Draft, place: Place, block: SubSequenceBlock): Outcome {
  const { leaf } = frameAt(draft, place);
  if (leaf === null || isYetToBegin(leaf)) {
    const begins = mayBeginChild(draft) && knows(draft, place, block);
    return begins ? startChild(draft, place, block) : 'open';
  }
  if (leaf.state === 'failed') return 'failed';
  switch (leaf.childEnd) {
    case null:
      return 'open';
    case 'completed': {
      const rows = draft.knowledge.rowsOfChild(leaf.childId ?? '');
      return rows === undefined ? 'open' : completeLeaf(draft, place, leaf, rows);
    }
    case 'failed':
    case 'cancelled':
      return failLeaf(draft, place, leaf, {
        message: `the child of ${block.id} ${leaf.childEnd === 'failed' ? 'failed' : 'was cancelled'}`,
        retryable: false,
        code: leaf.childEnd === 'failed' ? 'CHILD_FAILED' : 'CHILD_CANCELLED',
        details: { child_instance_id: leaf.childId },
      });
  }
}

/** A person has set the input; nothing has happened yet. */
function isYetToBegin({ input, childId, state }: Leaf): boolean {
  return input !== undefined && childId === null && state === 'waiting';
}

function startChild(draft: Draft, place: Place, block: SubSequenceBlock): Outcome {
  const edited = frameAt(draft, place).leaf?.input;
  const leaf = freshLeaf(draft.env.now);
  const version = block.version ?? null;
  const sequence = draft.knowledge.sequence(block.sequence_name, version);
  if (sequence === undefined) return 'open';
  const resolved = edited === undefined ? resolveTemplates(block.input, scopeAt(draft, place)) : ok(edited);
  if (!resolved.ok) {
    return failLeaf(draft, place, leaf, permanent('TEMPLATE_ERROR', resolved.error.message));
  }
  const data = resolved.value ?? {};
  const failure = refusal(draft, block, sequence, data);
  if (failure !== null || sequence === null) {
    return failLeaf(draft, place, leaf, failure ?? permanent('SEQUENCE_NOT_FOUND', block.sequence_name));
  }
  return createChild(draft, place, block, { leaf, sequenceId: sequence.sequenceId, data });
}

/** [SUB-2], [SUB-4], [SUB-5]: what stops a child from being started; nothing is created then. */
function refusal(
  draft: Draft,
  block: SubSequenceBlock,
  sequence: KnownSequence | null,
  data: Json,
): Failure | null {
  const named =
    block.version === undefined ? block.sequence_name : `${block.sequence_name} v${block.version}`;
  if (sequence === null) return permanent('SEQUENCE_NOT_FOUND', `there is no sequence ${named}`);
  if (draft.record.depth + 1 > DEPTH_MAX) {
    return permanent('DEPTH_EXCEEDED', `sub-sequences are nested more than ${DEPTH_MAX} levels deep`);
  }
  if (sequence.inputSchema === null) return null;
  const violations = draft.env.validateAgainst(sequence.inputSchema, data);
  if (violations.length === 0) return null;
  return {
    ...permanent(
      'INPUT_CONTRACT_VIOLATION',
      `the input of ${block.id} does not satisfy the schema of ${named}`,
    ),
    details: { violations: violations.map((violation) => ({ ...violation })) },
  };
}

/** [SUB-3], [SUB-6]. An entry is numbered by the run: within a run each pass has an iteration of its own. */
function createChild(
  draft: Draft,
  place: Place,
  block: SubSequenceBlock,
  child: { readonly leaf: Leaf; readonly sequenceId: string; readonly data: Json },
): Outcome {
  const frame = frameAt(draft, place);
  const id = draft.env.newId();
  draft.push('childrenStarted', {
    id,
    runId: draft.env.newId(),
    sequenceId: child.sequenceId,
    blockId: block.id,
    iteration: innerIteration(frame),
    entry: draft.record.runNo,
    data: child.data,
    metadata: { _parent_block_id: block.id, _sub_sequence_depth: draft.record.depth + 1 },
  });
  useAllowance(draft);
  draft.putLeaf(frame, { ...child.leaf, state: 'waiting', reason: 'child', childId: id });
  return 'open';
}

function permanent(code: string, message: string): Failure {
  return { message, retryable: false, code };
}
