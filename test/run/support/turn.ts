import { traceIntents } from '../../../src/core/run/interceptors/traces.ts';
import { advance, beginCall, finishCall } from '../../../src/core/run/advance.ts';
import type { Settle } from '../../../src/core/run/changes.ts';
import type { Dispatch } from '../../../src/core/run/draft.ts';
import { applyFacts } from '../../../src/core/run/facts.ts';
import { endHooks, settleHooks } from '../../../src/core/run/hooks/end-hooks.ts';
import { nextHook } from '../../../src/core/run/hooks/next-hook.ts';
import { settleDenied } from '../../../src/core/run/limits/ask.ts';
import { finishHook } from '../../../src/core/run/hooks/record-hook.ts';
import { takeUnannounced } from '../../../src/core/run/reshape/apply-changes.ts';
import { nextWake, settle, settleUnmoved } from '../../../src/core/run/settle.ts';
import type { Claim, TurnCommit } from '../../../src/ports/store/turn.ts';
import { readNeeds } from '../../../src/engine/read-needs.ts';
import { callable } from '../../../src/engine/turn-grants.ts';
import { callHandler } from './calls.ts';
import { checkCommitted } from './checks.ts';
import { isFirstTry, onlyRepeatsIntents } from './crashes.ts';
import { callWithBefore, invoke } from './invoke.ts';
import { dropCall, type Running, takeFinished, type TurnState } from './running-calls.ts';
import { claimedDraft } from './shape.ts';
import { LEASE_MS, type World } from './world.ts';

const ROUNDS_MAX = 3000;
const TURNS_MAX = 3000;
/** After ten a leaf is given up (RULINGS A19): that is not what the crashes are for, so they end before. */
const REDELIVERIES_MAX = 7;

export type TurnEnd = 'settled' | 'crashed';

/** The process died: all that it had in memory is gone. */
class Crash extends Error {}

/** A commit was refused: the turn reads again under its lease, and its handlers run on. */
class Refused extends Error {}

/** One turn of one instance, as the engine does it, on the virtual clock. */
async function runTurn(world: World, claim: Claim): Promise<TurnEnd> {
  let running: ReadonlyMap<string, Running> = new Map();
  for (let claimed = claim, reloads = 0; reloads < 50; reloads += 1) {
    const state = await openTurn(world, claimed, running);
    try {
      if (state.draft.terminal) await runHooks(state);
      else await runRounds(state);
      return 'settled';
    } catch (error) {
      if (error instanceof Crash) {
        await world.store.voidAllLeases();
        return 'crashed';
      }
      if (!(error instanceof Refused)) throw error;
      running = state.running;
      claimed = await readAgain(world, claimed);
    }
  }
  throw new Error('a commit is refused again and again');
}

async function openTurn(
  world: World,
  claim: Claim,
  running: ReadonlyMap<string, Running>,
): Promise<TurnState> {
  const draft = await claimedDraft(world, claim);
  draft.lostCalls.takenOver = claim.takenOver;
  const state: TurnState = {
    world,
    claim,
    draft,
    running: new Map(running),
    rev: claim.instance.rev,
    seenSeq: 0,
    mayRun: claim.mayRun,
    committedOnce: false,
  };
  for (const key of running.keys()) draft.inFlight.add(key);
  takeInbox(state, claim);
  state.mayRun ||= draft.moved;
  return state;
}

function takeInbox(state: TurnState, claim: Pick<Claim, 'inbox'>): void {
  const rows = claim.inbox.filter((row) => row.seq > state.seenSeq);
  for (const row of rows) state.seenSeq = Math.max(state.seenSeq, row.seq);
  state.draft.env.now = state.world.now;
  takeUnannounced(state.draft, rows);
  applyFacts(state.draft, rows);
}

async function readAgain(world: World, claim: Claim): Promise<Claim> {
  const answer = await world.store.claimOne({
    tenantId: claim.tenantId,
    instanceId: claim.instanceId,
    leaseToken: claim.leaseToken,
    leaseOwner: '',
    leaseMs: LEASE_MS,
    mode: 'hint',
  });
  if (answer.status !== 'claimed') throw new Error(`the lease is gone: ${answer.status}`);
  return answer.claim;
}

async function runRounds(state: TurnState): Promise<void> {
  const { world, draft } = state;
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
    draft.env.now = world.now;
    takeFinished(state);
    await advanceFully(state);
    for (const key of draft.takeAborted()) dropCall(state, key);
    if (draft.shape.isDue) {
      draft.withdraw();
      if (draft.hasChanges) await commit(state, null);
      throw new Refused();
    }
    const pure = draft.ready.filter((dispatch) => dispatch.pure);
    if (pure.length > 0) {
      for (const dispatch of pure) await callPure(state, dispatch);
      continue;
    }
    if (draft.ready.length > 0 || draft.intents.asks) {
      await startReady(state, draft.ready);
      continue;
    }
    if (state.running.size > 0) {
      await waitForCalls(state);
      continue;
    }
    if (draft.runnableLeft) {
      await commit(state, null);
      continue;
    }
    await commit(state, state.mayRun || draft.cancelling ? settle(draft) : settleUnmoved(draft));
    return;
  }
  throw new Error('a turn does not come to an end');
}

/** The turn of an instance that has ended, hook by hook, as the engine does it. */
async function runHooks(state: TurnState): Promise<void> {
  const { world, draft, claim } = state;
  let again = claim.takenOver;
  for (;;) {
    draft.env.now = world.now;
    const step = nextHook(draft, again);
    if (step.kind === 'over') endHooks(draft);
    if (step.kind === 'over' || step.kind === 'later') {
      await commit(state, settleHooks(draft, step.kind === 'later' ? step.at : null));
      return;
    }
    if (step.kind === 'read') {
      const needs = draft.knowledge.takeNeeds();
      if (needs !== null) await readNeeds(world.store, draft, needs);
      continue;
    }
    const { answer } = callHandler(world, draft, step.dispatch);
    finishHook(draft, step.dispatch.blockId, answer);
    again = false;
    await commit(state, null);
  }
}

async function advanceFully({ world, draft, mayRun, running }: TurnState): Promise<void> {
  const room = (world.scenario.room ?? 32) - running.size;
  for (;;) {
    const needs = advance(draft, { room, mayRun });
    draft.lostCalls.takenOver &&= draft.ready.length === 0;
    if (needs === null) return;
    await readNeeds(world.store, draft, needs);
  }
}

async function callPure(state: TurnState, dispatch: Dispatch): Promise<void> {
  const { draft } = state;
  const { answer } = await callWithBefore(state.world, draft, dispatch);
  beginCall(draft, dispatch);
  finishCall(draft, dispatch, answer);
}

async function startReady(state: TurnState, ready: readonly Dispatch[]): Promise<void> {
  const { draft, world } = state;
  const mayClaim = !state.committedOnce && !draft.hasChanges && !draft.intents.asks;
  const claimIsIntent = mayClaim && !ready.some((d) => d.intentFirst);
  if (claimIsIntent) draft.grantByClaim();
  else if (!(await commit(state, null))) return;
  for (const dispatch of callable(draft, ready)) {
    world.mostRedeliveries = Math.max(world.mostRedeliveries, dispatch.leaf.redeliveries);
    const { answer, at } = await callWithBefore(state.world, draft, dispatch);
    beginCall(draft, dispatch);
    state.running.set(dispatch.frameKey, { dispatch, answer, finishAt: at });
  }
}

/** Runs turns of all instances that are due and that nobody holds, one after the other. */
export async function runDue(world: World): Promise<'quiet' | 'crashed'> {
  for (let turns = 0; turns < TURNS_MAX; turns += 1) {
    const { claims } = await world.store.claimDue({
      leaseToken: world.newId(),
      leaseOwner: 'p-1',
      leaseMs: LEASE_MS,
      limit: 1,
      perTenantLimit: 0,
    });
    const [claim] = claims;
    if (claim === undefined) return 'quiet';
    if ((await runTurn(world, claim)) === 'crashed') return 'crashed';
  }
  throw new Error('the scenario does not come to rest');
}

/** Waits for a handler, a fact from outside or a timer of another branch, whichever comes first. */
async function waitForCalls(state: TurnState): Promise<void> {
  const { world, draft, running } = state;
  if (draft.hasChanges) {
    await commit(state, null);
    return;
  }
  const instants = [...running.values()].map((call) => call.finishAt);
  const wake = nextWake(draft);
  if (wake !== null) instants.push(wake);
  if ((await runDue(world)) === 'crashed') throw new Crash();
  const now = await readAgain(world, state.claim);
  if (now.inbox.some((row) => row.seq > state.seenSeq)) {
    takeInbox(state, now);
    return;
  }
  const { dueAt } = await world.store.nextWake();
  for (const at of [world.nextEventAt(), dueAt]) if (at !== null) instants.push(at);
  await world.moveTo(Math.min(...instants));
  takeInbox(state, await readAgain(world, state.claim));
}

/** True when the intents of the commit hold. */
async function commit(state: TurnState, settled: Settle | null): Promise<boolean> {
  const { world, draft, claim } = state;
  for (const invocation of draft.invocations.takeAll())
    draft.fillRow(invocation.rowId, await invoke(world, draft, invocation));
  traceIntents(draft);
  const turn: TurnCommit = {
    tenantId: claim.tenantId,
    instanceId: claim.instanceId,
    epoch: claim.epoch,
    leaseToken: claim.leaseToken,
    rev: state.rev,
    runNo: draft.record.runNo,
    seenSeq: state.seenSeq,
    ...draft.takeChanges(),
    settle: settled,
  };
  // Intents count before anything is called: a crash may come in between, again and again.
  for (const { intent } of turn.frames) {
    world.mostRedeliveries = Math.max(world.mostRedeliveries, intent?.leaf?.redeliveries ?? 0);
  }
  const mayCrash = world.mostRedeliveries < REDELIVERIES_MAX;
  if (world.crashes === 'before_commits' && mayCrash && isFirstTry(world, turn)) throw new Crash();
  const { verdicts } = await world.store.commit([turn]);
  const [verdict] = verdicts;
  if (verdict?.verdict === 'refused') throw new Refused();
  if (verdict?.verdict !== 'ok') throw new Error(`a commit was answered with ${JSON.stringify(verdict)}`);
  state.rev += 1;
  state.committedOnce = true;
  await checkCommitted(world, claim.instanceId);
  world.commits.push(turn);
  world.react(turn);
  world.escalations.push(...draft.escalations.takeAll().map(({ handler, params }) => ({ handler, params })));
  const crashes = world.crashes === 'after_commits' && mayCrash && settled === null;
  if (crashes && !onlyRepeatsIntents(turn)) throw new Crash();
  draft.env.openBreakers = new Set(verdict.openBreakers);
  if (verdict.granted) draft.grant(verdict.taken);
  else draft.withdraw();
  if (verdict.granted) settleDenied(draft);
  if (settled === null) takeInbox(state, verdict);
  return verdict.granted;
}
