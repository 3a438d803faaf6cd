import type { Dispatch, Draft } from '../core/run/draft.ts';
import { endHooks, settleHooks } from '../core/run/hooks/end-hooks.ts';
import { nextHook } from '../core/run/hooks/next-hook.ts';
import { failHook, finishHook } from '../core/run/hooks/record-hook.ts';
import type { Claim } from '../ports/store/turn.ts';
import { CallAbort } from './call-abort.ts';
import { callHandler } from './call-handler.ts';
import type { CallOutcome } from './handler-call.ts';
import { readNeeds } from './read-needs.ts';
import type { TurnBudget } from './turn-budget.ts';
import type { TurnClock } from './turn-clock.ts';
import type { TurnCommits } from './turn-commits.ts';
import type { TurnDeps } from './turn-deps.ts';
import { type CallContext, boundMs } from './turn-effects.ts';
import { type TurnEnd, giveBack } from './turn-end.ts';
import type { TurnWaits } from './turn-waits.ts';

/** What a turn after the end of a run works with. */
export interface HooksTurn extends CallContext {
  readonly claim: Claim;
  readonly commits: TurnCommits;
  readonly clock: TurnClock;
  readonly budget: TurnBudget;
  readonly waits: TurnWaits;
}

/**
 * The turn of an instance that has ended and has cleanup hooks left (18.2): one after the other, each recorded in a commit
 * that moves on to the next one. A turn that is lost is taken over like any other, and the hook at which it was lost is
 * called again under the same key ([HOOK-4]).
 */
export async function runHooks(deps: TurnDeps, turn: HooksTurn): Promise<TurnEnd | 'reload'> {
  const { draft, claim, commits, clock, budget } = turn;
  giveUpHook(deps, draft, claim);
  let again = claim.takenOver || draft.record.hooks?.called === true;
  for (;;) {
    draft.env.now = clock.now();
    const step = nextHook(draft, again);
    switch (step.kind) {
      case 'read': {
        const needs = draft.knowledge.takeNeeds();
        if (needs !== null) await readNeeds(turn.reads, draft, needs);
        break;
      }
      case 'later':
        if (again) keepCalled(draft);
        return settle(turn, step.at);
      case 'over':
        endHooks(draft);
        return settle(turn, null);
      case 'call': {
        if (!budget.mayStart()) {
          // Who only looked has not used up any of the claims that the cleanup may take (RULINGS B7).
          if (!draft.hasChanges) return giveBack(deps, turn.lease, draft.env.now, { state: draft.state });
          if (again) keepCalled(draft);
          return settle(turn, draft.env.now);
        }
        if (!deps.steps.take(1)) {
          if (!(await untilSlot(deps, turn))) return { kind: 'lost' };
          break;
        }
        budget.countEffect();
        const outcome = await call(deps, turn, step.dispatch);
        finishHook(draft, step.dispatch.blockId, outcome);
        again = false;
        const sent = await commits.send(draft, null);
        if (sent === 'lost') return { kind: 'lost' };
        if (sent === 'reload') return 'reload';
      }
    }
  }
}

/** All slots are taken by other steps: the turn waits for one of them. False when it lost its lease meanwhile. */
async function untilSlot(deps: TurnDeps, { waits, lease }: HooksTurn): Promise<boolean> {
  void deps.steps.freed().then(() => waits.interrupt());
  await waits.wait(null);
  return !lease.isLost;
}

/** This turn has not called the hook that a lost one may have called; who calls it has to know ([HOOK-4]). */
function keepCalled(draft: Draft): void {
  const hooks = draft.record.hooks ?? null;
  if (hooks !== null && hooks.called !== true) draft.instance.set({ hooks: { ...hooks, called: true } });
}

/** [REC-3]: a hook that ends its process again and again is given up, and the next one has its turn. */
function giveUpHook(deps: TurnDeps, draft: Draft, claim: Claim): void {
  const { maxRecoveries } = deps.limits;
  const { recoveryCount, hooks } = draft.record;
  if (!claim.takenOver || maxRecoveries === 0 || recoveryCount <= maxRecoveries) return;
  if (hooks === undefined || hooks === null || hooks.next === null) return;
  const block = (draft.plan.document[hooks.cause] ?? [])[hooks.next];
  if (block === undefined) return;
  failHook(draft, block.id, {
    message: `the process that ran it ended ${recoveryCount} times in a row`,
    retryable: false,
    code: 'MAX_RETRIES_EXCEEDED',
  });
}

async function call(deps: TurnDeps, turn: HooksTurn, dispatch: Dispatch): Promise<CallOutcome> {
  const { draft, reads, lease } = turn;
  const found = deps.handlers.lookup(dispatch.handler);
  if (found.type !== 'handler') throw new Error(`the handler ${dispatch.handler} is not here any more`);
  const key = { tenantId: draft.record.tenantId, instanceId: draft.record.id };
  try {
    return await callHandler(deps, {
      dispatch,
      handler: found.handler,
      record: draft.record,
      outputs: draft.knowledge.knownOutputs,
      nowMs: draft.env.now,
      controller: new CallAbort(),
      leftMs: boundMs(deps, lease),
      readState: async (name) => {
        const known = draft.knowledge.stateValue(name);
        return known === null ? (await reads.readState(key, [name])).get(name) : known.value;
      },
      countState: () => reads.countState(key),
      addLog: (line) => {
        draft.push('logs', line);
      },
    });
  } finally {
    deps.steps.release(1);
  }
}

async function settle({ draft, commits, clock }: HooksTurn, at: number | null): Promise<TurnEnd | 'reload'> {
  const settled = settleHooks(draft, at);
  const sent = await commits.send(draft, settled);
  if (sent === 'lost') return { kind: 'lost' };
  if (sent === 'reload') return 'reload';
  const now = clock.now();
  const dueAt = commits.wasWoken ? now : settled.dueAt;
  return { kind: 'settled', state: settled.state, dueAt, now, leftToOthers: false };
}
