import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createObjectWaker } from '../../src/adapters/cloudflare/object-waker.ts';
import { createTurnQueue } from '../../src/adapters/cloudflare/turn-queue.ts';
import { createScheduleWaker } from '../../src/adapters/scheduler/schedule-waker.ts';
import { createSqsQueue } from '../../src/adapters/sqs/sqs-queue.ts';
import { createLog, systemClock } from '../../src/adapters/system.ts';
import { HOST_CALL_MS } from '../../src/ports/host-call.ts';
import type { HintQueue } from '../../src/ports/queue.ts';
import type { Waker } from '../../src/ports/waker.ts';
import { refusingEndpoint, type SilentServer, startSilentServer } from '../support/silent-server.ts';

let server: SilentServer | null = null;
let logged: string[] = [];

beforeAll(() => {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
});
afterEach(() => {
  server?.close();
  server = null;
  logged = [];
});

const log = createLog({ level: 'debug', format: 'text', write: (line) => logged.push(line) });

/** A clock whose time is over when the test says so; it tells for how long it was asked. */
function stoppedClock() {
  const waits: { readonly delayMs: number; readonly callback: () => void }[] = [];
  return {
    ...systemClock,
    waits,
    after(delayMs: number, callback: () => void) {
      const wait = { delayMs, callback };
      waits.push(wait);
      return () => void waits.splice(waits.indexOf(wait), 1);
    },
    runOut() {
      for (const { callback } of [...waits]) callback();
    },
  };
}

type StoppedClock = ReturnType<typeof stoppedClock>;

async function silent(): Promise<SilentServer> {
  server = await startSilentServer();
  return server;
}

function schedules(endpoint: string, clock: StoppedClock): Waker {
  process.env['AWS_ENDPOINT_URL_SCHEDULER'] = endpoint;
  return createScheduleWaker({ group: 'g', targetArn: 'arn:t', roleArn: 'arn:r', clock });
}

function sqs(endpoint: string, clock: StoppedClock): ReturnType<typeof createSqsQueue> {
  process.env['AWS_ENDPOINT_URL_SQS'] = endpoint;
  return createSqsQueue({ queueUrl: `${endpoint}/000000000000/turns`, log, clock });
}

const hint = { tenantId: 'saltmarsh', instanceId: 'i', delayMs: 0 };
const never = (): Promise<never> => new Promise(() => undefined);

describe('a service of the host that accepts and never answers', () => {
  it('delays a wake by one call of bounded length on AWS, which then ends', async () => {
    const { endpoint, called, sockets } = await silent();
    const clock = stoppedClock();
    const kept = outcomeOf(schedules(endpoint, clock).guard(60_000));
    await called;
    expect(clock.waits.map(({ delayMs }) => delayMs)).toEqual([HOST_CALL_MS]);
    clock.runOut();
    expect(await kept).toContain('no answer');
    await Promise.all(sockets.map((socket) => hasClosed(socket)));
    expect(clock.waits).toEqual([]);
  });

  it('delays the end of an invocation by one call of bounded length, and the hints are lost and told', async () => {
    const { endpoint, called } = await silent();
    const clock = stoppedClock();
    const queue = sqs(endpoint, clock);
    queue.send([hint]);
    const settled = queue.settled();
    await called;
    expect(clock.waits.map(({ delayMs }) => delayMs)).toEqual([HOST_CALL_MS]);
    clock.runOut();
    await settled;
    expect(logged.join()).toContain('hints could not be sent');
  });

  it('delays the giving back of messages by one call of bounded length', async () => {
    const { endpoint, called } = await silent();
    const clock = stoppedClock();
    const given = sqs(endpoint, clock).giveBack(['handle']);
    await called;
    clock.runOut();
    await given;
    expect(logged.join()).toContain('messages could not be given back');
  });

  it('delays a wake and hints by one call of bounded length on Workers', async () => {
    const clock = stoppedClock();
    const waker = createObjectWaker({ idFromName: () => ({}), get: () => ({ fetch: never }) }, clock);
    const kept = outcomeOf(waker.guard(60_000));
    clock.runOut();
    expect(await kept).toContain('no answer');
    const queue: HintQueue = createTurnQueue({ binding: { sendBatch: never }, log, clock: immediate(clock) });
    for (let count = 0; count < 250; count += 1) queue.send([{ ...hint, instanceId: `i${count}` }]);
    const settled = queue.settled();
    await Promise.resolve();
    await Promise.resolve();
    expect(clock.waits).toHaveLength(1);
    clock.runOut();
    await settled;
    expect(logged.join()).toContain('hints could not be sent');
  });
});

describe('a service of the host that nobody listens for', () => {
  it('refuses a wake after a few tries, and hints are lost and told', async () => {
    const endpoint = await refusingEndpoint();
    const clock = stoppedClock();
    await expect(schedules(endpoint, clock).guard(60_000)).rejects.toThrow('ECONNREFUSED');
    const queue = sqs(endpoint, clock);
    queue.send([hint]);
    await queue.settled();
    expect(logged.join()).toContain('ECONNREFUSED');
    expect(clock.waits).toEqual([]);
  });
});

/** What is to come soon comes at once. */
function immediate(clock: StoppedClock): StoppedClock {
  return { ...clock, soon: (callback) => callback() };
}

function outcomeOf(work: Promise<void>): Promise<string> {
  return work.then(
    () => 'kept',
    (error: unknown) => String(error),
  );
}

function hasClosed(socket: SilentServer['sockets'][number]): Promise<void> {
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}
