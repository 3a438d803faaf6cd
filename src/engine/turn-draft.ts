import { giveUp } from '../core/run/advance.ts';
import { Draft, type Env } from '../core/run/draft.ts';
import { Knowledge } from '../core/run/knowledge.ts';
import { DEFAULT_BREAKER_RULE } from '../core/run/limits/takes.ts';
import type { Claim } from '../ports/store/turn.ts';
import { randomValues } from './handlers/random-values.ts';
import type { ReadShape } from './read-shape.ts';
import { reading } from './reading.ts';
import type { TurnDeps } from './turn-deps.ts';

/** The working copy of a claimed instance. */
export function draftOf(
  deps: TurnDeps,
  { plan, pending }: ReadShape,
  claim: Claim,
  now: number,
  fits: (timeoutMs: number | null) => boolean = () => true,
): Draft {
  const draft = new Draft({
    plan,
    env: { ...envOf(deps, now), fits, openBreakers: new Set(claim.openBreakers) },
    knowledge: new Knowledge({ hasHistory: claim.instance.hasHistory }),
    record: claim.instance,
    frames: claim.frames,
  });
  draft.lostCalls.takenOver = claim.takenOver;
  draft.sharesSlots = claim.sharesSlots === true;
  draft.ensureRoot();
  draft.shape.pending = pending;
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
    maxSteps: deps.limits.maxStepsPerInstance ?? 0,
    breakers: deps.limits.breakers ?? DEFAULT_BREAKER_RULE,
    ...(deps.limits.webhooks === undefined ? {} : { webhooks: deps.limits.webhooks }),
    validateAgainst: (schema, value) => reading().validateAgainst(schema, value),
    kindOf: (handler) => deps.directory.kindOf(handler),
    checkParams: (handler, params) => {
      const found = deps.handlers.lookup(handler);
      return found.type === 'handler' ? (found.handler.checkParams?.(params) ?? null) : null;
    },
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
