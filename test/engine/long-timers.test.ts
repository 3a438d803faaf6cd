import { describe, expect, it } from 'vitest';
import { step } from './support/blocks.ts';
import { FunctionWorld } from './support/function-world.ts';
import { hintFates } from './support/hint-faults.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How much later than asked for a step is called on a function host with a sweep each minute. */
async function lateBy(delayMs: number): Promise<number> {
  const world = new FunctionWorld({ scripts: { quick: {} } });
  world.boot();
  const id = await world.start(await world.publish([step('a', 'quick', { delay: { duration: delayMs } })]));
  const dueAt = world.time.now + delayMs;
  await world.untilEnded(id, delayMs + 2 * MINUTE_MS);
  return (world.ledger.of('a')[0]?.at ?? Number.NaN) - dueAt;
}

describe('timers on a function host (DESIGN 5)', () => {
  it.each([
    ['a quarter of an hour and a second', 15 * MINUTE_MS + 1_000],
    ['seventeen seconds past a sweep', 20 * MINUTE_MS + 17_000],
    ['a second before a sweep', 21 * MINUTE_MS - 1_000],
    ['a day', DAY_MS + 31_000],
  ])('are exact although the sweep comes once a minute: %s', async (_, delayMs) => {
    expect(await lateBy(delayMs)).toBeLessThan(1_000);
  });

  it('are found by the next sweep when the message for them is lost', async () => {
    const world = new FunctionWorld({ scripts: { quick: {} } }, hintFates.dropped);
    world.boot();
    const delay = { duration: 20 * MINUTE_MS + 17_000 };
    const id = await world.start(await world.publish([step('a', 'quick', { delay })]));
    await world.time.pass(MINUTE_MS + 1);
    const { dueAt } = await world.view(id);
    await world.untilEnded(id, delay.duration + 2 * MINUTE_MS);
    const late = (world.ledger.of('a')[0]?.at ?? Number.NaN) - (dueAt ?? Number.NaN);
    expect(late).toBeGreaterThan(10_000);
    expect(late).toBeLessThanOrEqual(MINUTE_MS);
  });
});
