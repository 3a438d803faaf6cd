import { giveUp } from '../core/run/advance.ts';
import { Draft, type Env, type HandlerKind } from '../core/run/draft.ts';
import { Knowledge } from '../core/run/knowledge.ts';
import type { Plan } from '../core/run/plan.ts';
import type { Claim } from '../ports/store/turn.ts';
import { randomValues } from './handlers/random-values.ts';
import type { TurnDeps } from './turn-deps.ts';

/** The working copy of a claimed instance. */
export function draftOf(deps: TurnDeps, plan: Plan, claim: Claim, now: number): Draft {
  const draft = new Draft({
    plan,
    env: envOf(deps, now),
    knowledge: new Knowledge({ hasHistory: claim.instance.hasHistory }),
    record: claim.instance,
    frames: claim.frames,
  });
  draft.takenOver = claim.takenOver;
  draft.ensureRoot();
  return draft;
}

function envOf(deps: TurnDeps, now: number): Env {
  const { random, uuid } = randomValues(deps.entropy);
  return {
    now,
    newId: () => deps.ids.newId(),
    uuid,
    random,
    maxContextBytes: deps.limits.maxContextBytes,
    maxOutputBytes: deps.limits.maxOutputBytes,
    kindOf: (handler) => kindOf(deps, handler),
    defaultsOf: (handler) => {
      const found = deps.handlers.lookup(handler);
      return found.type === 'handler' ? (found.handler.defaults ?? {}) : {};
    },
  };
}

function kindOf(deps: TurnDeps, handler: string): HandlerKind {
  const found = deps.handlers.lookup(handler);
  switch (found.type) {
    case 'handler':
      // A user's pure handler may take its time: it runs beside the turn like any other call, not inside it.
      return deps.handlers.userNames.includes(handler) ? 'effect' : found.handler.kind;
    case 'engine':
      return 'effect';
    case 'unavailable':
      return 'unavailable';
    case 'unknown':
      return 'worker';
  }
}

/** [REC-3]: a run that ends its process again and again is given up, so that it cannot take others along. */
export function giveUpAfterRecoveries(deps: TurnDeps, draft: Draft, claim: Claim): void {
  const { maxRecoveries } = deps.limits;
  if (!claim.takenOver || maxRecoveries === 0 || draft.record.recoveryCount <= maxRecoveries) return;
  giveUp(draft, {
    message: `the process that ran it ended ${draft.record.recoveryCount} times in a row`,
    retryable: false,
    code: 'MAX_RETRIES_EXCEEDED',
  });
}
