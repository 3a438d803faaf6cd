import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeHintMessage } from '../../src/core/hint-message.ts';
import { defineHandler } from '../../src/sdk/handler.ts';
import type { SqsEvent } from '../support/event-source.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { nextId } from '../support/turn-builder.ts';
import {
  createDatabase,
  deploy,
  type Deployment,
  type DeploymentOptions,
  TENANT,
} from './support/deployment.ts';

let sqs: SqsServer;
let neon: NeonLocal;
let databaseUrl: string;
let app: Deployment;
const calls: string[] = [];
const handler = defineHandler('book', {}, (_input, { instanceId }) => {
  calls.push(instanceId);
  return { booked: true };
});
const FLIGHT = { type: 'step', id: 'flight', handler: 'book' };

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  databaseUrl = await createDatabase();
});
afterEach(async () => {
  calls.length = 0;
  await app.close();
});
afterAll(async () => {
  await neon.close();
  await sqs.stop();
});

async function deployHere(options: DeploymentOptions = {}): Promise<void> {
  app = await deploy(sqs, { databaseUrl, handlers: [handler], ...options });
}

const hint = (instanceId: string): string => encodeHintMessage({ tenantId: TENANT, instanceId }) ?? '';

/** An event as the queue would bring it; ids are the places in the batch. */
function event(...bodies: readonly string[]): SqsEvent {
  const record = { messageAttributes: {}, attributes: {}, md5OfBody: '', awsRegion: '', eventSourceARN: '' };
  return {
    Records: bodies.map((body, index) => ({
      ...record,
      body,
      messageId: `m${index}`,
      receiptHandle: `r${index}`,
      eventSource: 'aws:sqs' as const,
    })),
  };
}

const failed = (...ids: readonly string[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

describe('queue messages', () => {
  it('may come several times, in one batch and after the end', async () => {
    await deployHere();
    const id = await app.start([FLIGHT, { ...FLIGHT, id: 'hotel' }]);
    await Promise.all([1, 2, 3].map(() => app.queue.send(hint(id))));
    await app.turns.drain();
    await app.queue.send(hint(id));
    await app.turns.drain();
    expect(await app.state(id)).toBe('completed');
    expect(calls).toEqual([id, id]);
    expect(app.deadLetters.look().ready).toEqual([]);
  });

  it('are done with when nothing is due or known', async () => {
    await deployHere();
    const delayed = await app.start([{ ...FLIGHT, delay: { duration: 3_600_000 } }]);
    await app.turns.drain();
    expect(await app.turn(event(hint(delayed), hint(nextId()), hint('not-an-id')))).toEqual(failed());
    expect(calls).toEqual([]);
  });

  it('have one outcome each: what is no hint fails alone', async () => {
    await deployHere();
    const ids = await Promise.all([1, 2, 3].map(() => app.start([FLIGHT])));
    const [first = '', second = '', third = ''] = ids.map(hint);
    const wrong = ['nonsense', '{"v":2,"tenant":"a","instance":"b"}', 'x'.repeat(2000)];
    const [text = '', version = '', long = ''] = wrong;
    expect(await app.turn(event(text, first, version, second, long, third))).toEqual(
      failed('m0', 'm2', 'm4'),
    );
    expect(await Promise.all(ids.map((id) => app.state(id)))).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
  });

  it('that are no hints end in the dead-letter queue, and there they are dropped', async () => {
    await deployHere();
    await app.queue.send('nonsense');
    expect(await app.turns.drain()).toBe(5);
    expect(app.queue.look()).toEqual({ ready: [], delayed: [], inFlight: [] });
    expect(app.deadLetters.look().ready).toMatchObject([{ body: 'nonsense' }]);
    await app.deadLetterTurns.drain();
    expect(app.deadLetters.look()).toEqual({ ready: [], delayed: [], inFlight: [] });
    expect(app.logged.at(-1)).toContain('a message came to the dead-letter queue');
    expect(app.logged.join()).not.toContain('nonsense');
  });

  it('in the dead-letter queue that are hints are followed once more', async () => {
    await deployHere();
    const id = await app.start([FLIGHT]);
    await app.queue.lose();
    await app.deadLetters.send(hint(id));
    await app.deadLetterTurns.drain();
    expect(await app.state(id)).toBe('completed');
    expect(app.deadLetters.look()).toEqual({ ready: [], delayed: [], inFlight: [] });
  });

  it('for an instance that another turn holds are done with', async () => {
    await deployHere();
    const id = await app.start([FLIGHT]);
    const { store, ids } = app.parts.engine.deps;
    const lease = { leaseToken: ids.newId(), leaseOwner: 'other', leaseMs: 60_000 };
    const held = await store.claimOne({ tenantId: TENANT, instanceId: id, ...lease, mode: 'hint' });
    expect(await app.turn(event(hint(id)))).toEqual(failed());
    expect(calls).toEqual([]);
    if (held.status !== 'claimed') throw new Error(held.status);
    await store.releaseLeases([held.claim]);
    expect(await app.turn(event(hint(id)))).toEqual(failed());
    expect(calls).toEqual([id]);
  });

  it('are given back at once when the time is up before their turn', async () => {
    let remaining = 3_000;
    await deployHere({ remainingMs: () => remaining });
    const id = await app.start([FLIGHT]);
    await app.turns.poll();
    expect(app.queue.look()).toMatchObject({ ready: [{ receiveCount: 1 }], inFlight: [] });
    expect(calls).toEqual([]);
    remaining = 60_000;
    await app.turns.drain();
    expect(await app.state(id)).toBe('completed');
  });

  it('in the dead-letter queue for which the time is up wait for the end of their visibility', async () => {
    let remaining = 3_000;
    await deployHere({ remainingMs: () => remaining });
    const id = await app.start([FLIGHT]);
    await app.queue.lose();
    await app.deadLetters.send(hint(id));
    await app.deadLetterTurns.poll();
    expect(app.deadLetters.look()).toMatchObject({ ready: [], inFlight: [{ receiveCount: 1 }] });
    // What that function cannot do, and has no right to, it does not try.
    expect(app.logged.filter((line) => line.includes('messages'))).toEqual([]);
    remaining = 60_000;
    await app.deadLetterTurns.drain();
    expect(await app.state(id)).toBe('completed');
  });

  it('for which there was never room are worked off all the same', async () => {
    await deployHere();
    const id = await app.start([FLIGHT]);
    app.turns.throttle(5);
    expect(await app.turns.drain()).toBe(5);
    expect(calls).toEqual([]);
    expect(app.deadLetters.look().ready).toHaveLength(1);
    await app.deadLetterTurns.drain();
    expect(await app.state(id)).toBe('completed');
  });

  it('wait for a database that wakes up, and no attempt is lost', async () => {
    await deployHere();
    const id = await app.start([FLIGHT]);
    neon.refuse(3, 503);
    expect(await app.turn(event(hint(id)))).toEqual(failed());
    const { body } = await app.call('GET', `/instances/${id}/outputs`);
    expect(body).toMatchObject([{ block_id: 'flight', attempt: 0 }]);
  });

  it('come again when the database cannot be reached', async () => {
    await deployHere({ environment: { STEPWELL_DATABASE_URL: 'postgres://127.0.0.1:1/none' } });
    let remaining = 6_000;
    const remainingMs = () => {
      remaining -= 500;
      return remaining;
    };
    expect(await app.turn(event(hint(nextId()), 'nonsense'), remainingMs)).toEqual(failed('m0', 'm1'));
  });
});
