import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSqsQueue, type SqsQueue } from '../../src/adapters/sqs/sqs-queue.ts';
import { createLog, systemClock } from '../../src/adapters/system.ts';
import { decodeHintMessage } from '../../src/core/hint-message.ts';
import { createEventSource } from '../support/event-source.ts';
import { type SqsServer, startSqsServer, type TestQueue } from '../support/sqs-server.ts';
import { nextId } from '../support/turn-builder.ts';

let sqs: SqsServer;
let target: TestQueue;
let queue: SqsQueue;
let logged: string[];

beforeAll(async () => {
  sqs = await startSqsServer();
});
beforeEach(async () => {
  target = await sqs.createQueue(`hints-${nextId()}`, { VisibilityTimeout: '360' });
  logged = [];
  queue = queueAt(target.url);
});
afterAll(() => sqs.stop());

function queueAt(queueUrl: string): SqsQueue {
  const log = createLog({ level: 'debug', format: 'text', write: (line) => logged.push(line) });
  return createSqsQueue({ queueUrl, log, clock: systemClock });
}

const hint = (instanceId: string, delayMs = 0, tenantId = 'saltmarsh') => ({ tenantId, instanceId, delayMs });

describe('hints over SQS', () => {
  it('arrive, however many are sent at once', async () => {
    const ids = Array.from({ length: 25 }, () => nextId());
    for (const id of ids) queue.send([hint(id)]);
    await queue.settled();
    const seen = target.look().ready.map(({ body }) => decodeHintMessage(body));
    expect(new Set(seen.map((read) => read.ok && read.value.instanceId))).toEqual(new Set(ids));
    expect(logged).toEqual([]);
  });

  it('that say the same in one tick are sent once', async () => {
    queue.send([hint('a'), hint('a'), hint('a', 400), hint('a', 900), hint('a', 0, 'dunes')]);
    await queue.settled();
    const { ready, delayed } = target.look();
    expect(ready).toHaveLength(2);
    expect(delayed.map(({ delayMs }) => delayMs)).toEqual([1000]);
  });

  it('are never early: a delay is rounded up', async () => {
    queue.send([hint('a', 1), hint('b', 1000), hint('c', 1001), hint('d', 900_000)]);
    await queue.settled();
    const delays = target.look().delayed.map(({ delayMs }) => delayMs);
    expect(delays.toSorted((a, b) => a - b)).toEqual([1000, 1000, 2000, 900_000]);
  });

  it('with more than fifteen minutes of delay are refused before they are sent', async () => {
    queue.send([hint('a', 900_001), hint('b', Number.NaN), hint('c')]);
    await queue.settled();
    expect(target.look()).toMatchObject({ ready: [{ delayMs: 0 }], delayed: [] });
    expect(logged).toHaveLength(2);
  });

  it('carry tenants with any characters', async () => {
    queue.send([hint('a', 0, 'sält märsh'), hint('b', 0, 'x'.repeat(200)), hint('c', 0, 'x'.repeat(1000))]);
    await queue.settled();
    const tenants = target.look().ready.map(({ body }) => decodeHintMessage(body));
    expect(tenants).toMatchObject([{ value: { tenantId: 'sält märsh' } }, { ok: true }]);
    expect(logged).toEqual([expect.stringContaining('does not fit')]);
  });

  it('that cannot be sent are logged and forgotten', async () => {
    const nowhere = queueAt(`${target.url}-that-does-not-exist`);
    nowhere.send([hint('a')]);
    await nowhere.settled();
    expect(logged).toEqual([expect.stringContaining('hints could not be sent')]);
    await nowhere.giveBack(['handle']);
    expect(logged).toHaveLength(2);
  });

  it('sent while others are on their way are waited for as well', async () => {
    queue.send([hint('a')]);
    const settled = queue.settled();
    queue.send([hint('b')]);
    await settled;
    expect(target.look().ready).toHaveLength(2);
  });
});

describe('messages that were received', () => {
  it('are visible at once when they are given back', async () => {
    queue.send([hint('a')]);
    await queue.settled();
    const source = createEventSource({
      queue: target,
      invoke: async ({ Records }) => {
        expect(target.look()).toMatchObject({ ready: [], inFlight: [{ receiveCount: 1 }] });
        await queue.giveBack(Records.map(({ receiptHandle }) => receiptHandle));
        expect(target.look()).toMatchObject({ ready: [{ receiveCount: 1 }], inFlight: [] });
        return { batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })) };
      },
    });
    await source.poll();
    expect(target.look().ready).toHaveLength(1);
  });

  it('that the queue does not take back are told', async () => {
    await queue.giveBack(['the handle of another queue']);
    expect(logged).toEqual([expect.stringContaining('the queue did not take messages back')]);
  });
});
