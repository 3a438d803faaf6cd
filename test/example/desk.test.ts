import type { Server } from 'node:http';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { type Call, createDesk } from '../../examples/github-webhooks/desk.ts';
import { Ledger, type LedgerEntry } from '../../examples/github-webhooks/ledger.ts';

let server: Server | undefined;
const calls: Call[] = [];

afterEach(() => {
  server?.close();
  calls.length = 0;
});

async function desk(seed: number): Promise<string> {
  server = createDesk(
    seed,
    () => {},
    (call) => calls.push(call),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

async function ask(url: string, path: string, effect: string, key: string): Promise<number> {
  const headers = { 'x-effect': effect, 'idempotency-key': key };
  return (await fetch(`${url}/${path}`, { method: 'POST', headers })).status;
}

async function ledger(url: string): Promise<readonly LedgerEntry[]> {
  return Ledger.parse(await (await fetch(url)).json());
}

describe('the desk of the example', () => {
  it('does the work of one key once, however often it is asked and whatever it answers', async () => {
    const url = await desk(1);
    for (let effect = 0; effect < 6; effect += 1) {
      for (let call = 0; call < 4; call += 1) await ask(url, 'builds', `run/${effect}`, `key-${effect}`);
    }
    const entries = await ledger(url);
    expect(entries.map(({ doneCount }) => doneCount)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(entries.map(({ callCount }) => callCount)).toEqual([4, 4, 4, 4, 4, 4]);
    expect(calls.some(({ status }) => status === 503)).toBe(true);
    expect(calls.some(({ status, repeated }) => status === 503 && !repeated)).toBe(true);
  });

  it('shows a second key for one effect, and the second time the work was done', async () => {
    const url = await desk(1);
    for (const key of ['a', 'a', 'a', 'b', 'b']) await ask(url, 'scans', 'run/scan', key);
    expect(await ledger(url)).toMatchObject([{ keys: ['a', 'b'], doneCount: 2 }]);
  });

  it('fails at the same calls for the same seed', async () => {
    const statuses = async (): Promise<readonly number[]> => {
      const url = await desk(7);
      const answers: number[] = [];
      for (let effect = 0; effect < 8; effect += 1)
        answers.push(await ask(url, 'labels', `run/${effect}`, `k${effect}`));
      server?.close();
      return answers;
    };
    expect(await statuses()).toEqual(await statuses());
  });

  it('refuses a call without a key', async () => {
    const url = await desk(1);
    expect((await fetch(`${url}/builds`, { method: 'POST' })).status).toBe(400);
  });
});
