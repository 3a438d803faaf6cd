import type { DocumentError } from '../../definition/problems.ts';
import type { Failure } from '../../failure.ts';
import { type Result, err, ok } from '../../result.ts';
import type { InboxDone } from '../changes.ts';
import type { Draft } from '../draft.ts';
import type { Plan } from '../plan.ts';
import type { InboxRow } from '../record.ts';
import { carriedOver, effectivePlan, planWith, storedInjection } from './injection.ts';
import type { Injection } from './injected.ts';
import type { Refusal } from './mapping.ts';
import { type ReshapeOptions, reshape } from './reshape.ts';
import type { PendingChange, ShapeWrite } from './shape-state.ts';

const IN_TURN: ReshapeOptions = { restarts: false };

/** A change was accepted. A turn that was not given what it is reads itself afresh. */
export function applyShapeFact(draft: Draft, change: number): InboxDone['disposition'] | 'kept' {
  if ((draft.record.shape?.applied ?? 0) >= change) return 'applied';
  if (draft.shape.pending.length === 0) {
    draft.shape.isDue = true;
    return 'kept';
  }
  return applyChanges(draft, change) ? 'applied' : 'kept';
}

/** Changes whose fact was consumed by the end of an earlier run are applied before anything else. */
export function takeUnannounced(draft: Draft, rows: readonly InboxRow[]): void {
  if (draft.shape.pending.length === 0 || draft.terminal) return;
  if (!rows.some(({ fact }) => fact.kind === 'shape')) applyChanges(draft);
}

/** True when the turn has to be read afresh; a migration waits until nothing runs in this process. */
export function isOutdated(draft: Draft, runningCount: number): boolean {
  return draft.shape.isDue || (draft.shape.isHeld && runningCount === 0);
}

/**
 * Applies the accepted changes up to a number, in their order. False when a migration has to wait until running handlers
 * have ended.
 */
export function applyChanges(
  draft: Draft,
  upTo: number = Number.POSITIVE_INFINITY,
  options: ReshapeOptions = IN_TURN,
): boolean {
  for (;;) {
    const due = draft.shape.pending.filter(({ change }) => change <= upTo);
    const [first] = due;
    if (first === undefined) return true;
    if (first.kind === 'migrate') {
      if (draft.inFlight.size > 0) {
        draft.shape.isHeld = true;
        return false;
      }
      migrate(draft, first, options);
    } else inject(draft, due, options);
  }
}

/** All injections up to the next migration at once. */
function inject(draft: Draft, due: readonly PendingChange[], options: ReshapeOptions): void {
  const injections = [];
  let applied = 0;
  for (const change of due) {
    if (change.kind !== 'inject') break;
    injections.push(change.injection);
    applied = change.change;
  }
  const refusals = reshape(draft, planWith(draft.plan, injections), options);
  if (refusals.length > 0) throw new Error(`an injection has no place: ${describe(refusals)}`);
  const blockIds = injections.flatMap(({ blocks }) => blocks.map(({ id }) => id));
  draft.note('blocks_injected', { block_ids: blockIds });
  for (const blockId of blockIds) draft.shape.arrived.add(blockId);
  setApplied(draft, applied);
}

function migrate(
  draft: Draft,
  { change, target }: Extract<PendingChange, { kind: 'migrate' }>,
  options: ReshapeOptions,
): void {
  const reason = whyNot(draft, target);
  if (reason !== null || target === null) return refuseChange(draft, change, reason ?? '');
  const from = draft.record.sequenceId;
  const injections = carriedOver(draft.plan.shape?.injections ?? [], target.replaced);
  const plan = effectivePlan(target.plan, { injections, wasMigrated: true });
  const refusals = reshape(draft, plan, options);
  if (refusals.length > 0) return refuseChange(draft, change, describe(refusals));
  draft.instance.set({ sequenceId: plan.document.id });
  draft.note('migrated', { from_sequence_id: from, to_sequence_id: plan.document.id });
  return setApplied(draft, change);
}

/** Behind a cancel nothing new is begun, so a migration has nothing to do (RULINGS A12). */
function whyNot(draft: Draft, target: Extract<PendingChange, { kind: 'migrate' }>['target']): string | null {
  if (target === null) return 'the target sequence is not there any more';
  return draft.cancelling ? 'the instance was cancelled before' : null;
}

function refuseChange(draft: Draft, change: number, reason: string): void {
  draft.note('migration_refused', { reason });
  setApplied(draft, change, reason);
}

function setApplied(draft: Draft, applied: number, reason: string | null = null): void {
  const refused = reason === null ? [] : [{ change: applied, reason }];
  const accepted = Math.max(applied, draft.record.shape?.accepted ?? 0);
  writeShape(draft, { accepted, applied, added: [], refused });
  draft.shape.pending = draft.shape.pending.filter(({ change }) => change > applied);
}

/** Adds to what the next commit says of the shape. */
function writeShape(draft: Draft, write: Required<ShapeWrite>): void {
  const added = [...(draft.shape.written?.added ?? []), ...write.added];
  const refused = [...(draft.shape.written?.refused ?? []), ...write.refused];
  const { accepted, applied } = write;
  const shape: ShapeWrite = {
    accepted,
    applied,
    ...(added.length === 0 ? {} : { added }),
    ...(refused.length === 0 ? {} : { refused }),
  };
  draft.instance.set({ shape });
  draft.shape.written = shape;
}

/**
 * Injects blocks on behalf of a step, in the commit of its result ([OP-12]). That commit is refused when anything else was
 * accepted meanwhile, so that positions and ids are judged by what is there. The failure says why nothing is injected.
 */
export function injectFromStep(
  draft: Draft,
  injected: { readonly check: (plan: Plan) => Result<Injection, DocumentError> },
): Result<() => void, Failure> {
  const checked = injected.check(draft.plan);
  if (!checked.ok) return err(invalidBlocks(checked.error.message));
  return ok(() => {
    const change = (draft.record.shape?.accepted ?? 0) + 1;
    const injection = checked.value;
    const refusals = reshape(draft, planWith(draft.plan, [injection]), IN_TURN);
    if (refusals.length > 0) throw new Error(`an injection has no place: ${describe(refusals)}`);
    const added = [{ ...storedInjection(draft.env.newId(), injection), change }];
    writeShape(draft, { accepted: change, applied: change, added, refused: [] });
    draft.markStrict();
  });
}

function invalidBlocks(message: string): Failure {
  return { message: `self_modify: ${message}`, retryable: false, code: 'INVALID_BLOCKS' };
}

/** Refusals in words, for people. */
export function describe(refusals: readonly Refusal[]): string {
  return refusals
    .map(({ blockId, reason }) => (blockId === '' ? reason : `${blockId}: ${reason}`))
    .join('; ');
}
