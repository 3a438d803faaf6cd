import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineHandler } from '../../src/sdk/handler.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { type Cut, startWireTap, type WireMessage, type WireTap } from '../support/wire-tap.ts';
import { createDatabase, deploy, type Deployment } from './support/deployment.ts';

let sqs: SqsServer;
let tap: WireTap;
let app: Deployment | null = null;
const calls: string[] = [];
const handler = defineHandler('book', {}, (_input, { idempotencyKey }) => {
  calls.push(idempotencyKey);
  return { booked: true };
});
const blocks = [
  { type: 'step', id: 'flight', handler: 'book' },
  { type: 'step', id: 'hotel', handler: 'book' },
];

beforeAll(async () => {
  sqs = await startSqsServer();
  tap = await startWireTap(await createDatabase());
});
afterEach(async () => {
  calls.length = 0;
  await app?.close();
  app = null;
});
afterAll(async () => {
  await tap.close();
  await sqs.stop();
});

async function deployHere(environment: Readonly<Record<string, string>> = {}): Promise<Deployment> {
  app = await deploy(sqs, {
    databaseUrl: tap.url,
    handlers: [handler],
    environment: { STEPWELL_DATABASE_DRIVER: 'pg', ...environment },
  });
  return app;
}

const says = (name: string) => (message: WireMessage) =>
  message.kind === 'parse' && message.text.includes(name);

describe('functions on a plain PostgreSQL server', () => {
  it('hold one connection each, which the server ends when nobody uses it', async () => {
    const { start, turns } = await deployHere();
    tap.clear();
    const before = tap.connectionCount();
    const ids = await Promise.all([1, 2, 3].map(() => start(blocks)));
    await turns.drain();
    expect(calls).toHaveLength(2 * ids.length);
    expect(tap.connectionCount() - before).toBeLessThanOrEqual(1);
    const startups = tap.messages.flatMap((message) => (message.kind === 'startup' ? [message.params] : []));
    for (const { options } of startups) expect(options).toBe('-c idle_session_timeout=60000');
  });

  it('run on when the network breaks between two invocations', async () => {
    const { start, turns, state, logged } = await deployHere();
    const id = await start(blocks);
    tap.cutAll();
    await turns.drain();
    tap.cutAll();
    expect(await state(id)).toBe('completed');
    expect(calls).toHaveLength(2);
    expect(logged.filter((line) => line.includes('"error"'))).toEqual([]);
  });

  const cuts: readonly [string, Cut][] = [
    ['stepwell.claim', 'before'],
    ['stepwell.claim', 'after'],
    ['stepwell.commit', 'before'],
    ['stepwell.commit', 'after'],
  ];
  it.each(cuts)(
    'call each step once when the line breaks at %s, %s the server is done',
    async (name, cut) => {
      const { start, turns, state } = await deployHere();
      const id = await start(blocks);
      const before = tap.connectionCount();
      tap.cutAt(cut, says(name));
      await turns.drain();
      expect(await state(id)).toBe('completed');
      expect(tap.connectionCount()).toBe(before + 1);
      expect(calls).toHaveLength(2);
      expect(new Set(calls).size).toBe(2);
    },
  );

  it('lose no attempt to a database that refuses the first three connections', async () => {
    const { start, turns, state, queue } = await deployHere();
    const id = await start(blocks);
    tap.cutAll();
    tap.refuse(3, { code: '57P03', message: 'the database system is starting up' });
    await turns.poll();
    expect(queue.look()).toMatchObject({ ready: [], inFlight: [] });
    expect(await state(id)).toBe('completed');
    tap.cutAll();
    tap.refuse(3, { code: '53300', message: 'sorry, too many clients already' });
    expect(await state(id)).toBe('completed');
  });

  it('work through a pooler in transaction mode', async () => {
    const { start, turns, state, sweep } = await deployHere({ STEPWELL_DATABASE_POOLER: 'transaction' });
    tap.clear();
    const id = await start(blocks);
    await turns.drain();
    await sweep();
    expect(await state(id)).toBe('completed');
    const names = tap.messages.flatMap((message) => (message.kind === 'parse' ? [message.name] : []));
    expect(names.filter((name) => name !== '')).toEqual([]);
    expect(JSON.stringify(tap.messages)).not.toContain('"options"');
  });
});
