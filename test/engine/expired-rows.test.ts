import { beforeEach, describe, expect, it } from 'vitest';
import type { FunctionEngine } from '../../src/engine/function-engine.ts';
import { runSweep } from '../../src/engine/invocation.ts';
import { removeExpired } from '../../src/engine/remove-expired.ts';
import { nextId } from '../support/turn-builder.ts';
import { standardSettings } from './support/engine-process.ts';
import { outage } from './support/fault-plans.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const LIMIT_MS = 60_000;

let world: TestEngine;
let engine: FunctionEngine;

beforeEach(() => {
  world = new TestEngine();
  const { deps } = world.idle().engine;
  const queue = { send: () => undefined, settled: () => Promise.resolve() };
  engine = { deps, queue, settings: { ...standardSettings, leaseOwner: 'function', leaseMs: null } };
});

/** Stores sessions that are over. */
async function expire(count: number): Promise<void> {
  const session = { tenantId: TENANT, data: null, expiresAt: world.time.now + 1 };
  for (let index = 0; index < count; index += 1) {
    const id = nextId();
    await world.store.insertSession({ ...session, id, sessionKey: id });
  }
  await world.time.pass(1);
}

/** How many statements of one sweep remove something. */
async function removals(limitMs = LIMIT_MS): Promise<number> {
  const before = world.calls.calls.length;
  const end = world.time.now + limitMs;
  await world.answered(
    runSweep(engine, () => end - world.time.now),
    LIMIT_MS,
  );
  return world.calls.calls.slice(before).filter(({ operation }) => operation === 'removeExpired').length;
}

describe('what has expired', () => {
  it('is removed by one sweep, however much there is', async () => {
    await expire(2_001);
    expect(await removals()).toBe(3);
    expect(await removals()).toBe(0);
  });

  it('is left to the next sweep when there is no time left', async () => {
    await expire(2_000);
    world.faults = outage(['removeExpired'], { kind: 'slow-after', forMs: 2_000 });
    expect(await removals(6_000)).toBe(1);
  });

  it('is left to the next sweep after 20 statements', async () => {
    let asked = 0;
    const endless = { removeExpired: () => Promise.resolve((asked += 1) * 1000) };
    await removeExpired(endless, () => true);
    expect(asked).toBe(20);
  });
});
