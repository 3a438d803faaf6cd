import { HINT_DELAY_MAX_MS } from '../ports/queue.ts';
import type { WorkLook } from '../ports/store/sweeps.ts';
import type { Upcoming } from '../ports/store/turn.ts';
import { RESERVE_MS } from './turn-budget.ts';
import type { TurnDeps } from './turn-deps.ts';

/** Until the next sweep of steady mode has looked, and a little more. */
export const LOOK_AHEAD_MS = 75_000;
const PAGE = 1000;
/** More than that in a minute is left to the sweep. */
const PAGES_MAX = 50;

/**
 * Whether there can be any, as far as the look of a sweep tells.
 *
 * @param ageMs How long ago the look was taken.
 * @param withinMs How far the sweep hints ahead.
 */
export function mayHaveUpcoming(look: WorkLook | null, ageMs: number, withinMs: number): boolean {
  if (look === null) return true;
  return look.laterAt !== null && look.laterAt - look.now <= withinMs + ageMs;
}

/**
 * Sends delayed hints for what falls due before the next sweep, so that timers are exact to the second although the sweep
 * comes once a minute (DESIGN 5), as long as the host leaves time. What was set less than a queue's longest delay ahead has its hint already (RULINGS B15).
 */
export async function hintUpcoming(
  { store, hints, limits: { remainingTimeMs } }: Pick<TurnDeps, 'store' | 'hints' | 'limits'>,
  withinMs: number,
): Promise<void> {
  const request = { withinMs, aheadMs: HINT_DELAY_MAX_MS, limit: PAGE };
  let last: Upcoming['instances'][number] | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const after = last === undefined ? {} : { after: { dueAt: last.dueAt, instanceId: last.instanceId } };
    const { now, instances } = await store.listUpcoming({ ...request, ...after });
    hints.send(
      instances.map(({ tenantId, instanceId, dueAt }) => ({ tenantId, instanceId, delayMs: dueAt - now })),
    );
    const mayGoOn = remainingTimeMs === null || remainingTimeMs() > RESERVE_MS;
    if (instances.length < PAGE || !mayGoOn) return;
    last = instances.at(-1);
  }
}
