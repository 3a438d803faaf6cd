import { canonicalJson, type Json, type JsonObject } from '../../json.ts';
import type { FailedLeaf, Frame, Leaf, SagaDetail, TryDetail } from '../frame.ts';
import { frameKey } from '../frame.ts';
import { type Plan, currentList, listsOf } from '../plan.ts';
import { ranOf } from '../blocks/saga.ts';
import { silentFree } from './silent-frames.ts';
import { withSeenEnds } from './unseen-ends.ts';

interface Compared {
  readonly plan: Plan;
  /** A list that ends behind a cancel counts as cancelled, whatever its rows say: when it came is no row's business. */
  readonly isCancelling: boolean;
}

/**
 * What two frontiers say differently, in words; empty when they say the same. Left out is what rows do not say: what is
 * in flight at a cursor, instants, and frames that say no more than that a list is open at its start.
 */
export function differencesOf(
  of: Compared,
  stored: readonly Frame[],
  folded: readonly Frame[],
): readonly string[] {
  const left = essenceOf(of, stored);
  const right = essenceOf(of, folded);
  const keys = [...new Set([...left.keys(), ...right.keys()])].sort();
  return keys.flatMap((key) => {
    const [here, there] = [left.get(key), right.get(key)];
    if (here === there) return [];
    const name = key
      .split('\u0000')
      .filter((part) => part !== '')
      .join(' ');
    return [
      `${name || 'the root list'}: stored ${here ?? 'nothing'}, folded from rows ${there ?? 'nothing'}`,
    ];
  });
}

function essenceOf({ plan, isCancelling }: Compared, frames: readonly Frame[]): ReadonlyMap<string, string> {
  const seen = withSeenEnds(plan, frames.map(withoutFlight));
  const told = silentFree(plan, withoutCutEnds(plan, withoutCutStates(seen)));
  // What failed before a migration may be gone with its rows.
  const tellsFailures = plan.shape?.wasMigrated !== true;
  return new Map(
    told.map((frame) => [frameKey(frame), canonicalJson(essence(frame, { isCancelling, tellsFailures }))]),
  );
}

/** Only a failed leaf leaves a row. */
function withoutFlight(frame: Frame): Frame {
  return frame.leaf?.state === 'failed' ? frame : { ...frame, leaf: null };
}

/** A branch or an item leaves no row: when its block was cut short, it was too, even if something in it had just failed. */
function withoutCutStates(frames: readonly Frame[]): readonly Frame[] {
  const cut = new Set(frames.filter(({ state }) => state === 'cancelled').map(frameKey));
  return frames.map((frame) => {
    const { branch, leaf, state } = frame;
    const isInside = branch !== null && leaf === null && cut.has(frameKey({ ...frame, branch: null }));
    return isInside && state === 'failed' ? { ...frame, state: 'cancelled' } : frame;
  });
}

/**
 * A branch that was cut short when it had come to its end looks like one that drained, and what had not ended when its
 * block did was cancelled with it; so was one that had just failed when its block was cut short.
 */
function withoutCutEnds(plan: Plan, frames: readonly Frame[]): readonly Frame[] {
  const drained = new Set(frames.filter((frame) => isAtItsEnd(plan, frame)).map(frameKey));
  return frames.flatMap((frame) => {
    const { detail, blockId, iteration } = frame;
    if (detail.kind === 'branch' && drained.has(frameKey(frame))) return [];
    if (detail.kind !== 'parallel' && detail.kind !== 'race') return [frame];
    const block = plan.nodes.get(blockId)?.block;
    const lists = block === undefined ? [] : listsOf(block);
    const ends = detail.ends.map((end, branch) => {
      if (end === 'failed' && frame.state !== 'cancelled') return end;
      if (lists[branch]?.length === 0 || drained.has(frameKey({ blockId, branch, iteration })))
        return 'drained';
      if (frame.state === 'open') return end;
      return end === 'failed' ? 'cancelled' : (end ?? 'cancelled');
    });
    return [{ ...frame, detail: { ...detail, ends } }];
  });
}

function isAtItsEnd(plan: Plan, frame: Frame): boolean {
  return frame.state !== 'failed' && frame.cursor >= currentList(plan, frame).length;
}

interface Telling {
  readonly isCancelling: boolean;
  readonly tellsFailures: boolean;
}

function essence({ cursor, state, leaf, detail }: Frame, telling: Telling): Json {
  const { isCancelling, tellsFailures } = telling;
  const told = isCancelling ? drainingEssence(detail, tellsFailures) : detailEssence(detail, tellsFailures);
  const shown = isCancelling && state === 'cancelled' ? 'open' : state;
  return { cursor, state: shown, leaf: leaf === null ? null : leafEssence(leaf), detail: told };
}

function drainingEssence(detail: Frame['detail'], tellsFailures: boolean): Json {
  if (detail.kind === 'try_catch') return { kind: detail.kind, phase: detail.phase };
  if (detail.kind !== 'parallel' && detail.kind !== 'race') return detailEssence(detail, tellsFailures);
  return { kind: detail.kind, ends: detail.ends.map((end) => (end === 'cancelled' ? null : end)) };
}

function leafEssence({ attempt, error }: Leaf): Json {
  return { attempt, error: error === null ? null : failureEssence(error) };
}

function failureEssence({ message, retryable, code, details }: NonNullable<Leaf['error']>): Json {
  return { message, retryable, code: code ?? null, details: details ?? null };
}

function detailEssence(detail: Frame['detail'], tellsFailures: boolean): Json {
  switch (detail.kind) {
    case 'loop':
      return { kind: detail.kind, passes: detail.passes, inPass: detail.inPass };
    case 'for_each': {
      const { kind, index, total, snapshotKey, inPass, error } = detail;
      return {
        kind,
        index,
        total,
        snapshotKey,
        inPass,
        error: error === null ? null : failureEssence(error),
      };
    }
    case 'try_catch': {
      const { kind, phase, tryEnd, catchEnd } = detail;
      return { kind, phase, tryEnd, catchEnd, ...(tellsFailures ? causeEssence(detail) : {}) };
    }
    case 'saga': {
      const { kind, phase, step, done, failedStep, failedCompensations } = detail;
      const ran = phase === 'forward' ? ranOf(detail) : [];
      const cause = tellsFailures ? causeEssence(detail) : {};
      return { kind, phase, step, done, ran, failedStep, failedCompensations, ...cause };
    }
    case 'fan_out':
    case 'item':
      return { kind: detail.kind };
    case 'root':
    case 'branch':
    case 'cancellation_scope':
    case 'router':
    case 'a_b_split':
    case 'parallel':
    case 'race':
      return { ...detail };
  }
}

function causeEssence({ error, failures }: TryDetail | SagaDetail): JsonObject {
  return { error, failures: failures.map(failedEssence) };
}

function failedEssence({ blockId, iteration, attempt, failure }: FailedLeaf): Json {
  return { blockId, iteration, attempt, failure: failureEssence(failure) };
}
