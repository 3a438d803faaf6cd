import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createScheduleWaker } from '../../src/adapters/scheduler/schedule-waker.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { type Scheduler, startScheduler } from '../deploy/support/scheduler.ts';

/** 2027-02-11T08:00:20Z. */
const NOW = 1_802_332_820_000;
const MINUTE_MS = 60_000;

let scheduler: Scheduler;

beforeAll(async () => {
  scheduler = await startScheduler(() => NOW);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SCHEDULER: scheduler.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
});
afterEach(() => scheduler.fireAll(() => Promise.resolve()));
afterAll(() => scheduler.close());

function waker(clock = { now: NOW }) {
  return createScheduleWaker({
    group: 'wakes',
    targetArn: 'arn:aws:lambda:us-east-1:000000000000:function:sweep',
    roleArn: 'arn:aws:iam::000000000000:role/wake',
    clock: { ...systemClock, nowMs: () => clock.now },
  });
}

const expressions = () =>
  [...scheduler.schedules.values()].map(({ ScheduleExpression }) => ScheduleExpression);

describe('wakes by one-off schedules (RULINGS A33)', () => {
  it('are named by their minute and call the sweep', async () => {
    await waker().wakeWithin(40 * 24 * 60 * MINUTE_MS);
    expect([...scheduler.schedules]).toEqual([
      [
        'wake-202703230759',
        {
          GroupName: 'wakes',
          ScheduleExpression: 'at(2027-03-23T07:59:00)',
          ScheduleExpressionTimezone: 'UTC',
          FlexibleTimeWindow: { Mode: 'OFF' },
          ActionAfterCompletion: 'DELETE',
          Target: {
            Arn: 'arn:aws:lambda:us-east-1:000000000000:function:sweep',
            RoleArn: 'arn:aws:iam::000000000000:role/wake',
            Input: '{}',
            RetryPolicy: { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 300 },
          },
        },
      ],
    ]);
  });

  it('come in the minute before the one in which something falls due, of which a sweep sends word', async () => {
    await waker().wakeWithin(5 * MINUTE_MS + 50_000);
    expect(expressions()).toEqual(['at(2027-02-11T08:05:00)']);
  });

  it('come behind what is so near that there is word of it already', async () => {
    await waker().wakeWithin(2 * MINUTE_MS);
    expect(expressions()).toEqual(['at(2027-02-11T08:03:00)']);
  });

  it('come with the next minute when that is sooner, and never in the past', async () => {
    await waker().wakeWithin(0);
    await waker({ now: NOW + 38_000 }).wakeWithin(100);
    expect(expressions()).toEqual(['at(2027-02-11T08:01:00)', 'at(2027-02-11T08:02:00)']);
  });

  it('for what is centuries away look again within a year, and are one however often they are asked for', async () => {
    const centuriesMs = Date.parse('9999-12-31T23:59:59Z') - NOW;
    for (const minutes of [0, 1, 2, 3]) {
      const now = NOW + minutes * MINUTE_MS;
      await waker({ now }).wakeWithin(centuriesMs);
    }
    expect(expressions()).toEqual(['at(2028-01-26T23:59:00)']);
  });

  it('that guard come after what they guard has ended', async () => {
    await waker().guard(2 * MINUTE_MS);
    expect(expressions()).toEqual(['at(2027-02-11T08:03:00)']);
  });

  it('in a minute that has one already are content with it, whoever made it', async () => {
    await waker().guard(MINUTE_MS);
    await expect(waker().guard(MINUTE_MS)).resolves.toBeUndefined();
    expect(expressions()).toHaveLength(1);
  });

  it('after failed ones say how many there were, and are one for each stretch of their full pause', async () => {
    const quarter = { fullMs: 15 * MINUTE_MS, delayMs: 13 * MINUTE_MS };
    await waker().wakeAgain(quarter, 7);
    await waker({ now: NOW + 3 * MINUTE_MS }).wakeAgain({ ...quarter, delayMs: 15 * MINUTE_MS }, 7);
    await waker().wakeAgain({ fullMs: 30_000, delayMs: 25_000 }, 1);
    await waker({ now: NOW + 38_000 }).wakeAgain({ fullMs: MINUTE_MS, delayMs: 50_000 }, 2);
    const said = (count: number, at: number) => JSON.stringify({ failed_wakes: count, kept_at_ms: at });
    const kept = [...scheduler.schedules].map(([name, { ScheduleExpression, Target }]) => [
      name,
      ScheduleExpression,
      Target.Input,
    ]);
    expect(kept).toEqual([
      ['again-15-202702110815', 'at(2027-02-11T08:17:00)', said(7, NOW)],
      ['wake-202702110801', 'at(2027-02-11T08:01:00)', said(1, NOW)],
      ['wake-202702110802', 'at(2027-02-11T08:02:00)', said(2, NOW + 38_000)],
    ]);
  });

  it('are not asked for again by the process that has made them', async () => {
    const mine = waker();
    await mine.guard(MINUTE_MS);
    await scheduler.fireAll(() => Promise.resolve());
    await mine.guard(MINUTE_MS);
    expect(expressions()).toEqual([]);
  });

  it('that cannot be kept are told to the caller', async () => {
    process.env['AWS_ENDPOINT_URL_SCHEDULER'] = 'http://127.0.0.1:1';
    await expect(waker().guard(MINUTE_MS)).rejects.toThrow('ECONNREFUSED');
    process.env['AWS_ENDPOINT_URL_SCHEDULER'] = scheduler.endpoint;
  });
});
