import { describe, expect, it } from 'vitest';
import { gate, loop, parallel, sleep, step, task, tries } from './support/blocks.ts';
import { type Played, play } from './support/play.ts';
import { answerAt, byAttempt, ok, retryably, signal } from './support/script.ts';

const HOUR = 3_600_000;
const instants = (run: Played): string[] =>
  run.calls.map((call) => new Date(run.world.startAt + call.atMs).toISOString());

/** Monday 2027-02-01, 09:00 UTC. */
describe('send window of a step', () => {
  const night = { send_window: { start_hour: 22, end_hour: 6 } };

  it('waits outside of it as a scheduled instance and goes on inside [WIN-2] [DELAY-6]', async () => {
    const waiting = await play({ blocks: [step('a', night)], untilMs: 100 });
    expect(waiting.state).toBe('scheduled');
    expect(waiting.tree).toEqual({ a: 'waiting:send_window' });
    expect(waiting.instance.dueAt).toBe(waiting.world.startAt + 13 * HOUR);
    const run = await play({
      blocks: [step('a', night), step('b', { send_window: { start_hour: 8, end_hour: 18 } })],
    });
    expect(instants(run)).toEqual(['2027-02-01T22:00:00.000Z', '2027-02-02T08:00:00.000Z']);
  });

  it('takes the zone of the instance [TZ-1] [WIN-1]', async () => {
    const run = await play({ blocks: [step('a', night)], timezone: 'Asia/Tokyo' });
    expect(instants(run)).toEqual(['2027-02-01T13:00:00.000Z']);
  });

  it('comes after the delay and is asked again after a gate 8.1', async () => {
    const run = await play({
      blocks: [gate('a', {}, { delay: { duration: 10 * HOUR }, ...night })],
      events: [answerAt(22 * HOUR, 'a', { value: 'yes' })],
    });
    // The delay ends at 19:00, the window opens at 22:00, the answer comes at 07:00 and the window is shut again.
    expect(run.frontier.frames).toHaveLength(1);
    expect(instants(run)).toEqual(['2027-02-02T22:00:00.000Z']);
  });

  it('is asked for a retry too, which takes no further try [WIN-3] [RET-7]', async () => {
    const run = await play({
      blocks: [step('a', { send_window: { start_hour: 9, end_hour: 10 }, ...tries(2, 2 * HOUR) })],
      on: { a: byAttempt(retryably('busy'), ok()) },
    });
    expect(instants(run)).toEqual(['2027-02-01T09:00:00.000Z', '2027-02-02T09:00:00.000Z']);
    expect(run.called).toEqual(['a', 'a#1']);
  });

  it('never interrupts a step inside its window [WIN-3]', async () => {
    const run = await play({
      blocks: [
        step('a', { send_window: { start_hour: 9, end_hour: 10 } }),
        task('w', { send_window: { start_hour: 11, end_hour: 12 } }),
      ],
      on: { a: ok(null, { takesMs: 2 * HOUR }), w: ok(null, { takesMs: 5 * HOUR }) },
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 7 * HOUR]);
  });

  it('starts the clock of a deadline when it has passed [DL-1]', async () => {
    const run = await play({
      blocks: [step('a', { ...night, deadline: 1000 })],
      on: { a: ok(null, { takesMs: 900 }) },
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 13 * HOUR + 900]);
  });

  it('is passed at once in a dry run [DRY-3]', async () => {
    const run = await play({
      blocks: [step('a', night), loop('l', [step('b')], { poll_interval: 9 })],
      dryRun: true,
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 0]);
  });

  it('lets a pause and other branches be', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('a', night)], [sleep('s', 1000)]])],
      events: [signal(100, 'pause'), signal(14 * HOUR, 'resume')],
    });
    expect(instants(run)).toEqual(['2027-02-01T23:00:00.000Z']);
  });
});

describe('calendar delays of a step', () => {
  it('waits for a local time in its own zone or that of the instance [DELAY-1]', async () => {
    const at = async (delay: object, timezone: string): Promise<string | undefined> =>
      instants(await play({ blocks: [step('a', { delay: { duration: 0, ...delay } })], timezone }))[0];
    const local = { fire_at_local: '2027-03-28T02:30:00' };
    expect(await at({ ...local, timezone: 'Europe/Berlin' }, 'UTC')).toBe('2027-03-28T01:30:00.000Z');
    expect(await at(local, 'Europe/Berlin')).toBe('2027-03-28T01:30:00.000Z');
    expect(await at(local, 'Nowhere/Land')).toBe('2027-03-28T02:30:00.000Z');
    expect(await at({ fire_at_local: '2027-01-01T00:00:00' }, 'UTC')).toBe('2027-02-01T09:00:00.000Z');
  });

  it('moves to a business day, holidays of the config included [DELAY-2] [BIZ-1]', async () => {
    const run = await play({
      blocks: [
        step('a', { delay: { duration: 5 * 24 * HOUR, business_days_only: true, holidays: ['2027-02-08'] } }),
      ],
      config: { holidays: ['2027-02-09', 'x'] },
    });
    expect(instants(run)).toEqual(['2027-02-10T09:00:00.000Z']);
  });

  it('resolves the prompt of a gate behind a delay with outputs of earlier turns [HI-8]', async () => {
    const run = await play({
      blocks: [step('x'), gate('g', { prompt: 'Was it {{outputs.x.from}}?' }, { delay: { duration: HOUR } })],
    });
    expect(run.frontier.frames[0]?.leaf?.gate?.prompt).toBe('Was it x?');
  });
});
