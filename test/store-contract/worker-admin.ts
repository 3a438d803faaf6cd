import { expect, it } from 'vitest';
import { isAtLeast } from '../../src/core/worker-versions.ts';
import type { NewRoutingRule } from '../../src/ports/store/worker-admin.ts';
import {
  TENANT,
  frame,
  nextId,
  settleAs,
  task,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { pollRequest, useWorld, type World } from './world.ts';

const HANDLER = 'parcel_lookup';

const rule = (overrides: Partial<NewRoutingRule> = {}): NewRoutingRule => ({
  id: nextId(),
  tenantId: TENANT,
  handlerName: HANDLER,
  matchQueue: null,
  queueOverride: 'north',
  priority: 0,
  enabled: true,
  ...overrides,
});

/** The queue that a new task of the handler gets. */
async function queueOf(world: World, queueName: string | null, tenantId = TENANT): Promise<string | null> {
  const claim = await world.claim(await world.start({ tenantId }), { tenantId });
  const created = task({ queueName });
  await world.apply(
    turnOf(claim, {
      frames: [write(frame({ leaf: waitingLeaf('worker', { taskId: created.id }) }))],
      tasksCreated: [created],
      settle: settleAs('waiting', { openWaits: 1 }),
    }),
  );
  return (await world.store.getTask(null, created.id))?.queueName ?? null;
}

const VERSIONS: readonly (readonly [string, string, boolean])[] = [
  ['1.10.0', '1.9.0', true],
  ['1.8.9', '1.9.0', false],
  ['1.9', '1.9.0', true],
  ['1.9.0.1', '1.9', true],
  ['2', '10', false],
  ['v2.0', '1.99', true],
  ['1.9.0-beta', '1.9.0', true],
  ['dev', '0.0.1', false],
  ['99999999999999999999.0', '99999999999999999998', true],
];

/** Registers what every store must do with pins, commands and routing rules (http-api.md 19.5, 20). */
export function describeWorkerAdmin(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it.each(VERSIONS)('a worker of %s, pinned to %s, is given tasks: %s', async (version, least, given) => {
    await world.waitingForWorker();
    const pin = await world.store.putVersionPin(TENANT, HANDLER, least);
    expect(pin).toMatchObject({ tenantId: TENANT, handlerName: HANDLER, minVersion: least });
    expect(isAtLeast(version, least)).toBe(given);
    for (const tenantId of given ? [TENANT] : [TENANT, null]) {
      const tasks = await world.store.pollTasks(pollRequest({ tenantId, version }));
      expect(tasks).toHaveLength(given ? 1 : 0);
    }
  });

  it('a worker without a version satisfies no pin, and a pin binds one handler of one tenant (G07)', async () => {
    await world.store.putVersionPin(TENANT, HANDLER, '1.9.0');
    await world.waitingForWorker();
    await world.waitingForWorker({ tenantId: 'dunes' });
    expect(await world.store.pollTasks(pollRequest())).toEqual([]);
    const others = await world.store.pollTasks(pollRequest({ tenantId: null }));
    expect(others).toMatchObject([{ tenantId: 'dunes' }]);
    expect(await world.store.deleteVersionPin('dunes', HANDLER)).toBe(false);
    expect(await world.store.deleteVersionPin(TENANT, HANDLER)).toBe(true);
    expect(await world.store.pollTasks(pollRequest())).toHaveLength(1);
  });

  it('pins are replaced and listed by tenant and handler', async () => {
    const first = await world.store.putVersionPin(TENANT, 'b', '1');
    await world.advance(10);
    const again = await world.store.putVersionPin(TENANT, 'b', '2');
    expect(again).toEqual({ ...first, minVersion: '2', updatedAt: first.createdAt + 10 });
    await world.store.putVersionPin(TENANT, 'a', '1');
    await world.store.putVersionPin('dunes', 'z', '1');
    const list = async (tenantId: string | null, limit = 10) =>
      (await world.store.listVersionPins(tenantId, limit)).map(({ handlerName }) => handlerName);
    expect(await list(null)).toEqual(['z', 'a', 'b']);
    expect(await list(TENANT)).toEqual(['a', 'b']);
    expect(await list(TENANT, 1)).toEqual(['a']);
  });

  it('commands are read oldest first, by their worker or an administrator, until they are taken away', async () => {
    const send = (workerId: string) =>
      world.store.insertCommand({ id: nextId(), workerId, command: 'drain', payload: { after: 5 } });
    const first = await send('w-1');
    await world.advance(1);
    const second = await send('w-1');
    await send('w-2');
    expect(await world.store.listCommands(null, 'w-1', 10)).toEqual([first, second]);
    expect(await world.store.listCommands(null, 'w-1', 1)).toEqual([first]);
    expect(await world.store.listCommands(TENANT, 'w-1', 10)).toEqual([]);
    expect(await world.store.deleteCommand(TENANT, first.id)).toBe(false);
    await world.store.pollTasks(pollRequest({ workerId: 'w-1' }));
    expect(await world.store.listCommands(TENANT, 'w-1', 10)).toEqual([first, second]);
    expect(await world.store.deleteCommand(TENANT, first.id)).toBe(true);
    expect(await world.store.deleteCommand(null, first.id)).toBe(false);
    expect(await world.store.listCommands(null, 'w-1', 10)).toEqual([second]);
  });

  it('the first enabled rule that fits replaces the queue of a new task', async () => {
    expect(await queueOf(world, 'eu')).toBe('eu');
    await world.store.insertRoutingRule(rule({ queueOverride: 'low', priority: 1 }));
    await world.store.insertRoutingRule(rule({ queueOverride: 'off', priority: 9, enabled: false }));
    await world.store.insertRoutingRule(rule({ queueOverride: 'eu-2', priority: 5, matchQueue: 'eu' }));
    await world.store.insertRoutingRule(rule({ queueOverride: 'other', priority: 7, handlerName: 'else' }));
    await world.advance(1);
    await world.store.insertRoutingRule(rule({ queueOverride: 'younger', priority: 1 }));
    expect(await queueOf(world, 'eu')).toBe('eu-2');
    expect(await queueOf(world, 'us')).toBe('low');
    expect(await queueOf(world, null)).toBe('low');
    expect(await queueOf(world, 'eu', 'dunes')).toBe('eu');
  });

  it('rules are listed in the order in which they are tried, and belong to their tenant', async () => {
    const low = await world.store.insertRoutingRule(rule());
    await world.advance(1);
    const high = await world.store.insertRoutingRule(rule({ priority: 3, matchQueue: 'eu' }));
    const foreign = await world.store.insertRoutingRule(rule({ tenantId: 'dunes', priority: 2 }));
    expect(await world.store.listRoutingRules(TENANT, 10)).toEqual([high, low]);
    expect(await world.store.listRoutingRules(null, 2)).toEqual([high, foreign]);
    expect(await world.store.getRoutingRule(TENANT, foreign.id)).toBeNull();
    expect(await world.store.getRoutingRule(null, foreign.id)).toEqual(foreign);
    expect(await world.store.deleteRoutingRule(TENANT, foreign.id)).toBe(false);
    expect(await world.store.deleteRoutingRule(TENANT, low.id)).toBe(true);
    expect(await world.store.deleteRoutingRule(TENANT, low.id)).toBe(false);
  });
}
