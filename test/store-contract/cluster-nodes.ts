import { expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

const SILENT_MS = 120_000;

/** Registers what every store must know of the processes that work on it (http-api.md 25). */
export function describeClusterNodes(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('a node is registered by its first sign of life and stays active while it gives more', async () => {
    const id = nextId();
    const now = await world.now();
    expect(await world.store.heartbeatNode(id, 'north', SILENT_MS)).toBe(false);
    await world.advance(5000);
    expect(await world.store.heartbeatNode(id, 'north', null)).toBe(false);
    expect(await world.store.listNodes(10)).toEqual([
      {
        ...{ id, name: 'north', status: 'active', registeredAt: now, lastHeartbeatAt: now + 5000 },
        ...{ drainStartedAt: null, stoppedAt: null },
      },
    ]);
  });

  it('a silent node is stopped by another one, comes back with its next sign of life, and is forgotten in the end', async () => {
    const [silent, other] = [nextId(), nextId()];
    await world.store.heartbeatNode(silent, 'silent', null);
    await world.advance(SILENT_MS - 1);
    await world.store.heartbeatNode(other, 'other', SILENT_MS);
    const states = async () => (await world.store.listNodes(10)).map(({ name, status }) => [name, status]);
    expect(await states()).toEqual([
      ['silent', 'active'],
      ['other', 'active'],
    ]);
    await world.advance(1);
    await world.store.heartbeatNode(other, 'other', SILENT_MS);
    expect(await states()).toEqual([
      ['other', 'active'],
      ['silent', 'stopped'],
    ]);
    await world.store.heartbeatNode(silent, 'silent', null);
    expect((await states())[0]).toEqual(['silent', 'active']);
    await world.store.stopNode(silent);
    await world.advance(86_400_000);
    await world.store.heartbeatNode(other, 'other', SILENT_MS);
    expect(await states()).toEqual([['other', 'active']]);
  });

  it('a node learns with its next sign of life that it is to drain, and draining it again changes nothing', async () => {
    const id = nextId();
    await world.store.drainNode(nextId());
    await world.store.heartbeatNode(id, 'north', null);
    const now = await world.now();
    await world.store.drainNode(id);
    await world.advance(10);
    await world.store.drainNode(id);
    expect(await world.store.heartbeatNode(id, 'north', null)).toBe(true);
    expect(await world.store.listNodes(10)).toMatchObject([{ id, status: 'draining', drainStartedAt: now }]);
    await world.store.stopNode(id);
    expect(await world.store.listNodes(10)).toMatchObject([{ id, status: 'stopped', stoppedAt: now + 10 }]);
  });
}
