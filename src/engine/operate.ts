import { type JsonObject, mergeObjects } from '../core/json.ts';
import { cancelAtOnce } from '../core/run/advance.ts';
import type { Settle } from '../core/run/changes.ts';
import type { Draft } from '../core/run/draft.ts';
import { applyFacts } from '../core/run/facts.ts';
import { hasHooksToRun } from '../core/run/hooks/hooks-pending.ts';
import { resumed } from '../core/run/limits/budget.ts';
import { applyChanges, takeUnannounced } from '../core/run/reshape/apply-changes.ts';
import { retryRun } from '../core/run/retry-run.ts';
import { settle } from '../core/run/settle.ts';
import { settleShifted, shiftTimers } from '../core/run/shift-timers.ts';
import { withAlert } from '../core/run/sla.ts';
import { type InstanceState, isTerminal } from '../core/run/states.ts';
import type { Claim } from '../ports/store/turn.ts';
import { callEscalations } from './escalate.ts';
import { invokeInterceptors } from './invoke-interceptors.ts';
import { leaseOf } from './lease.ts';
import { readShape } from './read-shape.ts';
import type { InstanceTarget, Operation, OperationAnswer, TurnRunner } from './runner.ts';
import { draftOf } from './turn-draft.ts';
import type { TurnDeps } from './turn-deps.ts';
import { giveLeasesBack, hintsOf, slotHints } from './turn-effects.ts';
import { turnReads } from './turn-reads.ts';
import { untilTold, untilAnswered } from './until-answered.ts';

const TRIES_MAX = 5;

/** Carries out an operator's command in a turn of its own (20.1, [INS-12], [CAN-7], RULINGS A10 and A40). */
export async function operate(
  deps: TurnDeps,
  lease: ReturnType<TurnRunner['newLease']>,
  target: InstanceTarget,
  operation: Operation,
): Promise<OperationAnswer> {
  // Nobody is to lose a lease to a command that may not be carried out.
  const view = await deps.store.getInstance(target.tenantId, target.instanceId);
  if (view === null) return { status: 'not_found' };
  if (!isLegal(view.state, operation)) return { status: 'illegal', from: view.state };
  const { tenantId, instanceId } = target;
  // A failed instance is held by other operators only, so a retry need not take anything over.
  const takeOver = operation.kind === 'set_state' && operation.state === 'cancelled';
  const request = { tenantId, instanceId, ...lease, mode: 'operator' as const, takeOver };
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await untilTold(deps.clock, () => deps.store.claimOne(request));
    if (answer.status === 'not_found') return { status: 'not_found' };
    if (answer.status !== 'claimed') return { status: 'busy' };
    const done = await carryOut(deps, answer.claim, answer.now, operation);
    if (done !== 'again') return done;
  }
  return { status: 'busy' };
}

async function carryOut(
  deps: TurnDeps,
  claim: Claim,
  now: number,
  operation: Operation,
): Promise<OperationAnswer | 'again'> {
  const load = () => readShape(deps, claim.instance);
  const shape = await untilAnswered(deps.clock, load, (attempts) => attempts < TRIES_MAX);
  if (shape === null) throw new Error(`the definition ${claim.instance.sequenceId} cannot be read`);
  const draft = draftOf(deps, shape, claim, now);
  const lease = leaseOf(claim, now, deps.clock);
  const { ref } = lease;
  const from = claim.instance.state;
  if (!isLegal(from, operation) || pausesDrain(claim, operation)) {
    await giveLeasesBack(deps, [ref]);
    return { status: 'illegal', from };
  }
  if (hasHooksToRun(claim.instance.hooks)) {
    // What the end of the run before asks for comes first ([HOOK-1]).
    await giveLeasesBack(deps, [ref]);
    return { status: 'busy' };
  }
  const seenSeq = claim.inbox.reduce((seen, row) => Math.max(seen, row.seq), 0);
  takeUnannounced(draft, claim.inbox);
  applyFacts(draft, claim.inbox);
  // A fact may have ended the run just now; one that had ended before is what a retry is for.
  if (draft.state === from || !draft.terminal) apply(deps, draft, operation);
  const settled = settledBy(draft, operation, claim.inbox.length > 0);
  if (draft.invocations.size > 0)
    await invokeInterceptors(deps, { draft, lease, reads: turnReads(deps.store, deps.clock, lease) });
  const turn = {
    ...ref,
    rev: claim.instance.rev,
    // A retry begins the next run with this commit; the commit itself still belongs to the run that failed.
    runNo: claim.instance.runNo,
    seenSeq,
    ...draft.takeChanges(),
    settle: settled,
  };
  const { verdict } = await deps.committer.commit(turn);
  if (verdict.verdict === 'refused') return 'again';
  if (verdict.verdict !== 'ok' && verdict.verdict !== 'already') return { status: 'busy' };
  callEscalations(deps, draft);
  const self = { tenantId: claim.tenantId, instanceId: claim.instanceId, delayMs: 0 };
  const next = slotHints(claim.tenantId, verdict);
  deps.hints.send([...hintsOf(draft, turn), ...next, ...(settled.dueAt === null ? [] : [self])]);
  return { status: 'done', state: settled.state };
}

/** The table of [INS-10], without the transitions that only the engine makes. */
function isLegal(from: InstanceState, operation: Operation): boolean {
  if (operation.kind === 'retry') return from === 'failed';
  if (operation.kind === 'reschedule') return from === 'scheduled';
  switch (operation.state) {
    case 'cancelled':
      return !isTerminal(from);
    case 'paused':
      return from === 'scheduled' || from === 'running';
    case 'scheduled':
      return from === 'running' || from === 'waiting' || from === 'paused' || from === 'failed';
    case 'waiting':
      return from === 'running';
    case 'running':
    case 'completed':
    case 'failed':
      return false;
  }
}

/** [CAN-5]: what a cancel lets end runs on; a pause would hold it for ever. The signal has no effect then either. */
function pausesDrain({ instance }: Claim, operation: Operation): boolean {
  return (
    operation.kind === 'set_state' && operation.state === 'paused' && instance.cancelRequestedAt !== null
  );
}

function apply(deps: TurnDeps, draft: Draft, operation: Operation): void {
  if (operation.kind === 'reschedule') return shiftTimers(draft, operation.offsetMs);
  if (operation.kind === 'retry') addMetadata(draft, operation.metadata);
  if (operation.kind === 'retry' || draft.state === 'failed') {
    retryRun(draft, deps.ids.newId());
    applyChanges(draft, Number.POSITIVE_INFINITY, { restarts: true });
  } else if (operation.state === 'cancelled') cancelAtOnce(draft);
  else {
    const wasPaused = draft.state === 'paused';
    draft.transition(operation.state, { reason: 'operator' });
    if (wasPaused && operation.state === 'scheduled') resumed(draft);
  }
}

function addMetadata(draft: Draft, metadata: JsonObject = {}): void {
  if (Object.keys(metadata).length === 0) return;
  draft.instance.set({ metadata: mergeObjects(draft.record.metadata, metadata) });
}

/** What is left to wait for stays as it is; the state is the one that the operator chose. */
function settledBy(draft: Draft, operation: Operation, hadFacts: boolean): Settle {
  return draft.rootEnd !== null || draft.terminal
    ? settle(draft)
    : withAlert(draft, settledOpen(draft, operation, hadFacts));
}

function settledOpen(draft: Draft, operation: Operation, hadFacts: boolean): Settle {
  const at = operation.kind === 'set_state' ? operation.nextFireAt : null;
  const openWaits = settleWaits(draft);
  if (operation.kind === 'reschedule' && draft.state === 'scheduled')
    return settleShifted(draft, operation.offsetMs, { openWaits, hadFacts });
  if (draft.state === 'scheduled') {
    return { state: 'scheduled', nextFireAt: at, dueAt: at ?? draft.env.now, openWaits, failure: null };
  }
  if (draft.state === 'waiting') {
    // An operator's hold: it stays until somebody changes it (http-api.md 6.1).
    return {
      state: 'waiting',
      nextFireAt: at,
      dueAt: at,
      openWaits: Math.max(1, openWaits),
      failure: null,
    };
  }
  return { state: draft.state, nextFireAt: null, dueAt: null, openWaits, failure: null };
}

function settleWaits(draft: Draft): number {
  const reasons = new Set(['worker', 'input', 'event', 'child']);
  return [...draft.frames.values()].filter((frame) => reasons.has(frame.leaf?.reason ?? '')).length;
}
