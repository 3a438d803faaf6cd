import type { BreakerOutcome } from '../../core/run/limits/takes.ts';
import type { TurnCommit } from '../../ports/store/turn.ts';

/** True when no attempt failed: then the names are all that the breakers need. */
export function allSucceeded({ outcomes }: TurnCommit): boolean {
  return outcomes.every(({ ok }) => ok);
}

/** Names of the handlers that succeeded, each once; to a breaker several successes in a row are one. */
export function succeededHandlers({ outcomes }: TurnCommit): readonly string[] {
  if (outcomes.length === 1) return outcomes.map(({ handler }) => handler);
  return [...new Set(outcomes.map(({ handler }) => handler))];
}

/** A failure is one without `ok`. */
export function encodeOutcome(outcome: BreakerOutcome): object {
  if (outcome.ok) return outcome;
  const { ok: _, ...failure } = outcome;
  return failure;
}

/**
 * What the intents of a turn ask limits for. `f` is the place of the frame in the payload's `frames`; the root frame is a
 * member of the turn and has none.
 */
export function addTakes(
  into: { readonly takes: object[]; readonly frames: readonly object[] },
  turn: TurnCommit,
  i: number,
): void {
  let f = into.frames.length - turn.frames.filter(({ frame }) => frame.blockId !== '').length;
  for (const { frame, takes } of turn.frames) {
    const isRoot = frame.blockId === '';
    if (takes !== undefined) {
      const { rate, breaker, pool } = takes;
      into.takes.push({
        i,
        ...(isRoot ? {} : { f }),
        ...(rate === undefined ? {} : { rate }),
        ...(breaker === undefined ? {} : { breaker: breaker.handler }),
        ...(breaker?.fallback === undefined ? {} : { fallback: breaker.fallback.handler }),
        ...(breaker?.fallback?.tracked === true ? { fallbackTracked: true } : {}),
        ...(pool === undefined ? {} : { pool: pool.name, dice: pool.dice }),
      });
    }
    if (!isRoot) f += 1;
  }
}
