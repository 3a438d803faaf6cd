import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { sweep } from '../../src/engine/sweep.ts';
import type { StepHandler } from '../../src/ports/step-handler.ts';
import { MIGRATED } from '../postgres/store-database.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { step, steps } from './support/blocks.ts';
import {
  REAL_TENANT,
  type RealEngine,
  createRealEngine,
  publishBlocks,
  startDue,
} from './support/real-engine.ts';

const SWEEP = { batchSize: 256, perTenantLimit: 0, silentTaskMs: 60_000 };
const LEASE_MS = 1000;

const open: RealEngine[] = [];
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(open.map((engine) => engine.close()));
});

function engineOn(url: string, name: string, handlers: readonly StepHandler[]): RealEngine {
  const engine = createRealEngine(url, name, handlers);
  open.push(engine);
  return engine;
}

/** Counts its calls by instance and block. */
function counting(name: string, calls: Map<string, number>): StepHandler {
  return {
    name,
    kind: 'effect',
    run: async ({ instanceId, blockId }) => {
      const key = `${instanceId} ${blockId}`;
      calls.set(key, (calls.get(key) ?? 0) + 1);
      return { ok: true, output: { by: 'counting' } };
    },
  };
}

/** Lines that a child says, one after the other. */
function freezable(
  url: string,
  instanceId: string,
): { readonly child: ChildProcess; next(): Promise<string> } {
  const program = fileURLToPath(new URL('./support/freezable-process.ts', import.meta.url));
  const loader = import.meta.resolve('tsx');
  const args = ['--import', loader, program, url, REAL_TENANT, instanceId, String(LEASE_MS)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, next: async () => String((await lines.next()).value) };
}

describe('engines on PostgreSQL', () => {
  it('twenty sweeps at once over 50 due instances run each step once', { timeout: 120_000 }, async () => {
    const { url } = await createTestDatabase(MIGRATED);
    const calls = new Map<string, number>();
    const engines = Array.from({ length: 20 }, (_, index) =>
      engineOn(url, `sweeper-${index}`, [counting('effect', calls)]),
    );
    const [first] = engines;
    if (first === undefined) throw new Error('no engine');
    const ids = await startDue(first, await publishBlocks(first, steps('s', 3, 'effect')), 50);
    const results = await Promise.all(engines.map(({ deps, runner }) => sweep(deps, runner, SWEEP)));
    await Promise.all(engines.map((engine) => engine.idle()));
    expect(results.reduce((sum, { result }) => sum + result.claimed, 0)).toBe(50);
    const states = await Promise.all(
      ids.map(async (id) => (await first.deps.store.getInstance(REAL_TENANT, id))?.state),
    );
    expect(states).toEqual(ids.map(() => 'completed'));
    expect(calls.size).toBe(150);
    expect([...new Set(calls.values())]).toEqual([1]);
  });

  it('a process that was frozen past its lease wakes up and can write nothing', {
    timeout: 120_000,
  }, async () => {
    const { url } = await createTestDatabase(MIGRATED);
    const calls = new Map<string, number>();
    const other = engineOn(url, 'other', [counting('held', calls)]);
    const { store } = other.deps;
    const [id] = await startDue(other, await publishBlocks(other, [step('a', 'held'), step('b', 'held')]), 1);
    if (id === undefined) throw new Error('no instance');
    const frozen = freezable(url, id);
    expect(await frozen.next()).toBe('called');
    frozen.child.kill('SIGSTOP');
    await waitUntil(
      'the lease is taken over',
      async () => (await sweep(other.deps, other.runner, SWEEP)).result.takenOver > 0,
    );
    await other.idle();
    const everything = async (): Promise<unknown> =>
      Promise.all([
        store.getInstance(REAL_TENANT, id),
        store.listOutputs(REAL_TENANT, id, { node: true, retry: true }),
        store.getFrontier(REAL_TENANT, id).then((frontier) => ({ ...frontier, now: 0 })),
        store.listAudit(REAL_TENANT, id, 100),
      ]);
    const before = await everything();
    expect(await store.getInstance(REAL_TENANT, id)).toMatchObject({ state: 'completed', epoch: 2 });
    frozen.child.stdin?.write('go on\n');
    frozen.child.kill('SIGCONT');
    expect(await frozen.next()).toBe('lost');
    expect(await everything()).toEqual(before);
    expect(calls).toEqual(
      new Map([
        [`${id} a`, 1],
        [`${id} b`, 1],
      ]),
    );
  });
});
