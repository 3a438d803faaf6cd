import type { Draft } from '../core/run/draft.ts';
import { applyFacts } from '../core/run/facts.ts';
import type { Refused } from '../core/run/go-back/refused.ts';
import { type Resumed, resumeRun } from '../core/run/go-back/resume-run.ts';
import { hasHooksToRun } from '../core/run/hooks/hooks-pending.ts';
import { applyChanges, takeUnannounced } from '../core/run/reshape/apply-changes.ts';
import { openWaits } from '../core/run/settle.ts';
import { withAlert } from '../core/run/sla.ts';
import { type InstanceState, isTerminal } from '../core/run/states.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { History } from '../ports/store/history.ts';
import type { Claim } from '../ports/store/turn.ts';
import { invokeInterceptors } from './invoke-interceptors.ts';
import { type Lease, leaseOf } from './lease.ts';
import { readNeeds } from './read-needs.ts';
import { readShape } from './read-shape.ts';
import type { ResumeAnswer, ResumeOrder } from './resume-order.ts';
import type { InstanceTarget, TurnRunner } from './runner.ts';
import type { TurnDeps } from './turn-deps.ts';
import { draftOf } from './turn-draft.ts';
import { giveLeasesBack, hintsOf, slotHints } from './turn-effects.ts';
import { turnReads } from './turn-reads.ts';
import { untilTold, untilAnswered } from './until-answered.ts';

const TRIES_MAX = 8;

/**
 * Carries out a resume-from in a turn of its own: under the lease nothing else moves the run, so what is read stays true
 * until the one commit that changes everything. A fact that was accepted before takes effect before, and one that comes
 * in between makes the commit look again: it is strict.
 */
export async function resumeFrom(
  deps: TurnDeps,
  lease: ReturnType<TurnRunner['newLease']>,
  target: InstanceTarget,
  order: ResumeOrder,
): Promise<ResumeAnswer> {
  const seen = await deps.store.getHistory(target.tenantId, target.instanceId);
  if (seen === null) return { status: 'not_found' };
  // Nothing is held for a command that may not be carried out: a lease that comes and goes shows on the instance.
  if (!mayGoBack(seen.instance.state)) return { status: 'illegal', from: seen.instance.state };
  const refused = await refusalBefore(deps, lease, seen, order);
  if (refused !== null) return { status: 'refused', refused };
  const request = { ...target, ...lease, mode: 'operator' as const };
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await untilTold(deps.clock, () => deps.store.claimOne(request));
    if (answer.status === 'not_found') return { status: 'not_found' };
    if (answer.status !== 'claimed') return { status: 'busy' };
    const held = leaseOf(answer.claim, answer.now, deps.clock);
    const done = await goBack(deps, { claim: answer.claim, now: answer.now, lease: held }, order);
    if (done === 'again') continue;
    if (done.status !== 'resumed') await giveLeasesBack(deps, [held.ref]);
    return done;
  }
  return { status: 'busy' };
}

/** The refusal that can be told from what is there; null when there is none, or something has to take effect before. */
async function refusalBefore(
  deps: TurnDeps,
  { leaseToken, leaseMs }: ReturnType<TurnRunner['newLease']>,
  history: History,
  order: ResumeOrder,
): Promise<Refused | null> {
  const { instance, frames, inbox, now } = history;
  if (inbox.length > 0 || hasHooksToRun(instance.hooks) || instance.cancelRequestedAt !== null) return null;
  const { tenantId, id: instanceId, epoch } = instance;
  const unheld = { tenantId, instanceId, epoch, leaseToken, leaseUntil: now + leaseMs };
  const claim: Claim = { ...unheld, instance, frames, inbox, takenOver: false, among: 0, mayRun: true };
  const held = { claim, now, lease: leaseOf(claim, now, deps.clock) };
  const draft = await draftAt(deps, held);
  applyChanges(draft, Number.POSITIVE_INFINITY, { restarts: true });
  const resumed = await resumeWith(deps, held, draft, history, order);
  return resumed.ok ? null : resumed.error;
}

/** [OP-5]. A paused run stands still; all others have ended. */
function mayGoBack(state: InstanceState): boolean {
  return state === 'paused' || isTerminal(state);
}

interface Held {
  readonly claim: Claim;
  readonly now: number;
  readonly lease: Lease;
}

async function goBack(deps: TurnDeps, held: Held, order: ResumeOrder): Promise<ResumeAnswer | 'again'> {
  const { claim } = held;
  const { state, cancelRequestedAt, hooks } = claim.instance;
  if (!mayGoBack(state)) return { status: 'illegal', from: state };
  // What the end of the run before asks for comes first ([HOOK-1]), and so does a cancel that drains.
  if (hasHooksToRun(hooks) || (!isTerminal(state) && cancelRequestedAt !== null)) return { status: 'busy' };
  const facts = await takeFacts(deps, held);
  if (facts !== 'none') return facts === 'taken' ? 'again' : { status: 'busy' };
  const read = () => deps.store.getHistory(claim.tenantId, claim.instanceId);
  const history = await untilAnswered(deps.clock, read, (attempts) => attempts < TRIES_MAX);
  if (history === null) return { status: 'not_found' };
  if (history.instance.rev !== claim.instance.rev) return 'again';
  const draft = await draftAt(deps, held);
  applyChanges(draft, Number.POSITIVE_INFINITY, { restarts: true });
  const resumed = await resumeWith(deps, held, draft, history, order);
  if (!resumed.ok) return { status: 'refused', refused: resumed.error };
  const committed = await commitResumed(deps, held, draft);
  if (committed !== 'done') return committed;
  const { iteration } = resumed.value.target.levels.at(-1) ?? { iteration: '' };
  return { status: 'resumed', superseded: resumed.value.superseded, iteration };
}

/** Facts that were accepted before take effect before, in a commit of their own: their rows are then in the history. */
async function takeFacts(deps: TurnDeps, held: Held): Promise<'none' | 'taken' | 'busy'> {
  const { claim, lease } = held;
  if (claim.inbox.length === 0) return 'none';
  const draft = await draftAt(deps, held);
  takeUnannounced(draft, claim.inbox);
  applyFacts(draft, claim.inbox);
  if (draft.invocations.size > 0) {
    await invokeInterceptors(deps, { draft, lease, reads: turnReads(deps.store, deps.clock, lease) });
  }
  const changes = draft.takeChanges();
  if (changes.inboxDone.length === 0) return 'none';
  const turn = { ...fence(held), ...changes, settle: null };
  const { verdict } = await deps.committer.commit(turn);
  if (verdict.verdict === 'refused') return 'taken';
  if (verdict.verdict !== 'ok' && verdict.verdict !== 'already') return 'busy';
  deps.hints.send([...hintsOf(draft, turn), ...slotHints(claim.tenantId, verdict)]);
  return 'taken';
}

async function draftAt(deps: TurnDeps, { claim, now }: Held): Promise<Draft> {
  const load = () => readShape(deps, claim.instance);
  const shape = await untilAnswered(deps.clock, load, (attempts) => attempts < TRIES_MAX);
  if (shape === null) throw new Error(`the definition ${claim.instance.sequenceId} cannot be read`);
  return draftOf(deps, shape, claim, now);
}

async function resumeWith(
  deps: TurnDeps,
  { lease }: Held,
  draft: Draft,
  history: History,
  order: ResumeOrder,
): Promise<Result<Resumed, Refused>> {
  const reads = turnReads(deps.store, deps.clock, lease);
  const runId = deps.ids.newId();
  // An item for each for_each around the block may have to be read.
  for (let reading = 0; reading < 64; reading += 1) {
    const resumed = resumeRun(draft, history.rows, { ...order, runId });
    if (resumed !== 'needs_items') return resumed.ok ? ok(resumed.value) : err(resumed.error);
    const needs = draft.knowledge.takeNeeds();
    if (needs !== null) await readNeeds(reads, draft, needs);
  }
  throw new Error(`the items around ${order.blockId} cannot be read`);
}

async function commitResumed(
  deps: TurnDeps,
  held: Held,
  draft: Draft,
): Promise<'done' | 'again' | { readonly status: 'busy' }> {
  draft.markStrict();
  const { now } = draft.env;
  const at = { state: 'scheduled' as const, nextFireAt: now, dueAt: now };
  const settle = withAlert(draft, { ...at, openWaits: openWaits(draft), failure: null });
  const turn = { ...fence(held), ...draft.takeChanges(), settle };
  const { verdict } = await deps.committer.commit(turn);
  if (verdict.verdict === 'refused') return 'again';
  if (verdict.verdict !== 'ok' && verdict.verdict !== 'already') return { status: 'busy' };
  const { tenantId, instanceId } = held.claim;
  const own = { tenantId, instanceId, delayMs: 0 };
  deps.hints.send([...hintsOf(draft, turn), ...slotHints(tenantId, verdict), own]);
  return 'done';
}

function fence({ claim, lease }: Held): {
  readonly tenantId: string;
  readonly instanceId: string;
  readonly epoch: number;
  readonly leaseToken: string;
  readonly rev: number;
  readonly runNo: number;
  readonly seenSeq: number;
} {
  const seenSeq = claim.inbox.reduce((seen, row) => Math.max(seen, row.seq), 0);
  return { ...lease.ref, rev: claim.instance.rev, runNo: claim.instance.runNo, seenSeq };
}
