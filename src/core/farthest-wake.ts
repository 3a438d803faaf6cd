const DAY_MS = 86_400_000;
/** No run lasts longer as a rule, and no host keeps a wake for a date that it cannot write. */
const FARTHEST_MS = 365 * DAY_MS;
/** All that is farther away shares a wake in the same stretch, however often somebody asks for one. */
const STRETCH_MS = 30 * DAY_MS;

/**
 * When to look again for what falls due then: in a year at most, whereupon whoever looks asks for the next wake.
 *
 * @returns Epoch ms.
 */
export function wakeAtMost(nowMs: number, dueAt: number): number {
  const farthestAt = nowMs + FARTHEST_MS;
  return dueAt <= farthestAt ? dueAt : Math.floor(farthestAt / STRETCH_MS) * STRETCH_MS;
}
