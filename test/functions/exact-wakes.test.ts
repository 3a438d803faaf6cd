import { describe, expect, it } from 'vitest';
import { step } from '../engine/support/blocks.ts';
import { ScheduledWorld } from './support/scheduled-world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** As AWS may call a schedule: in the first second of its minute, and in the last one. */
const CALLED = [
  ['in the first second of its minute', 0],
  ['in the last second of its minute', 59_000],
] as const;
/** When they end, from when they begin. */
const SLEEPS: readonly (readonly [string, (beginsAt: number) => number])[] = [
  ['16 minutes', (beginsAt) => beginsAt + 16 * MINUTE_MS + 12_300],
  [
    '16 minutes, until the first second of a minute',
    (beginsAt) => minuteFrom(beginsAt + 16 * MINUTE_MS) + 400,
  ],
  [
    '16 minutes, until the last second of a minute',
    (beginsAt) => minuteFrom(beginsAt + 16 * MINUTE_MS) + 59_400,
  ],
  ['40 days', (beginsAt) => beginsAt + 40 * DAY_MS + 37_400],
];
const minuteFrom = (at: number): number => Math.ceil(at / MINUTE_MS) * MINUTE_MS;

describe.each(CALLED)('a long sleep in economy mode, when a schedule is called %s', (_, calledLateMs) => {
  it.each(SLEEPS)('of %s ends exact to the second, by two wakes', async (_name, endOf) => {
    const world = new ScheduledWorld({ scripts: { quick: {} }, calledLateMs, fate: () => [0] });
    world.boot();
    const dueAt = endOf(world.time.now);
    const id = await world.start(await world.publish([step('a', 'quick')]), { nextFireAt: dueAt });
    await world.time.pass(10 * MINUTE_MS);
    const before = world.wakes.length;
    await world.time.pass(dueAt - world.time.now - 1);
    expect((await world.view(id)).state).toBe('scheduled');
    await world.untilEnded(id, 1_000);
    await world.time.pass(HOUR_MS);
    expect(world.wakes.slice(before).filter((at) => at < dueAt)).toHaveLength(1);
    expect(world.wakes.length - before).toBeLessThanOrEqual(2);
    expect(world.schedules.size).toBe(0);
  });

  it('of which the message was lost ends two minutes later at most', async () => {
    const world = new ScheduledWorld({ scripts: { quick: {} }, calledLateMs });
    world.boot();
    const dueAt = world.time.now + HOUR_MS + 1_000;
    const id = await world.start(await world.publish([step('a', 'quick')]), { nextFireAt: dueAt });
    await world.time.pass(dueAt - world.time.now);
    await world.untilEnded(id, 2 * MINUTE_MS);
    await world.time.pass(HOUR_MS);
    expect(world.schedules.size).toBe(0);
  });
});
