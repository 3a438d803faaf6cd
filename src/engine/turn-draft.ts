import { giveUp } from '../core/run/advance.ts';
import { Draft, type Env } from '../core/run/draft.ts';
import { Knowledge } from '../core/run/knowledge.ts';
import type { Plan } from '../core/run/plan.ts';
import type { Claim } from '../ports/store/turn.ts';
import { randomValues } from './handlers/random-values.ts';
import type { TurnDeps } from './turn-deps.ts';

/** The working copy of a claimed instance. */
export function draftOf(
  deps: TurnDeps,
  plan: Plan,
  claim: Claim,
  now: number,
  fits: (timeoutMs: number | null) => boolean = () => true,
): Draft {
  const draft = new Draft({
    plan,
    env: { ...envOf(deps, now), fits },
    knowledge: new Knowledge({ hasHistory: claim.instance.hasHistory }),
    record: claim.instance,
    frames: claim.frames,
  });
  draft.lostCalls.takenOver = claim.takenOver;
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
    kindOf: (handler) => deps.directory.kindOf(handler),
    defaultsOf: (handler) => {
      const found = deps.handlers.lookup(handler);
      return found.type === 'handler' ? (found.handler.defaults ?? {}) : {};
    },
  };
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
