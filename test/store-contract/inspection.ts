import { expect, it } from 'vitest';
import type { SurroundingsRequest } from '../../src/ports/store/inspection.ts';
import { SIGNAL_PAYLOAD_SHOWN_MAX } from '../../src/ports/store/inspection.ts';
import {
  TENANT,
  allDone,
  frame,
  gate,
  leaf,
  nextId,
  settleAs,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import { ask, failed, limitTo, tell } from './limit-acts.ts';
import type { MakeStore } from './store-under-test.ts';
import { oneRequest, pollRequest, useWorld } from './world.ts';

export function describeInspection(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const look = (request: Partial<SurroundingsRequest>) =>
    world.store.getSurroundings({
      tenantId: TENANT,
      instanceId: nextId(),
      aliveWithinMs: 120_000,
      handlers: [],
      childIds: [],
      rateKeys: [],
      concurrencyKey: null,
      ...request,
    });
  const key = { concurrencyKey: 'depot', maxConcurrency: 1 };
  const page = { tenantId: TENANT, key: null, limit: 10, offset: 0, perKey: 10 };

  it('surroundings of nothing are empty', async () => {
    const empty = { workers: [], pins: [], breakers: [], children: [], slots: null, rates: [] };
    expect(await look({})).toEqual(empty);
    expect(await look({ childIds: [nextId(), 'no-uuid'], rateKeys: ['mail'] })).toEqual(empty);
  });

  it('tell the versions of the workers that polled lately, for the tenant or for none [API 7.1]', async () => {
    const poll = async (workerId: string, version: string | null, tenantId: string | null = TENANT) =>
      world.store.pollTasks(pollRequest({ workerId, version, tenantId }));
    await poll('w-0', '9.9.9');
    await world.advance(1);
    await poll('w-1', '1.10.0');
    await poll('w-2', '1.9.4', null);
    await poll('w-3', '1.9.4');
    await poll('w-4', null);
    await poll('w-5', '7', 'dunes');
    await world.advance(120_000);
    await world.store.putVersionPin(TENANT, 'parcel_lookup', '2.0.0');
    await world.store.putVersionPin(TENANT, 'other', '1.0.0');
    expect(await look({ handlers: ['parcel_lookup', 'nobody', 'parcel_lookup'] })).toMatchObject({
      workers: [
        { handler: 'parcel_lookup', versions: ['1.10.0', '1.9.4', null] },
        { handler: 'nobody', versions: [] },
      ],
      pins: [{ handler: 'parcel_lookup', minVersion: '2.0.0' }],
    });
  });

  it('tell the breakers of the tenant that are not closed', async () => {
    await tell(world, failed('charge'), failed('charge'), failed('calm'));
    const openedAt = await world.now();
    expect((await look({})).breakers).toEqual([
      { handler: 'charge', state: 'open', openedAt, cooldownMs: 60_000, failureCount: 2 },
    ]);
    expect((await look({ tenantId: 'dunes' })).breakers).toEqual([]);
  });

  it('tell the states of the instances asked for, as far as they are of the tenant', async () => {
    const [open, ended] = [await world.start(), await world.inState('completed')];
    const foreign = await world.start({ tenantId: 'dunes' });
    const { children } = await look({ childIds: [ended, open, foreign] });
    expect(children).toEqual(
      [
        { id: open, state: 'scheduled' },
        { id: ended, state: 'completed' },
      ].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  });

  it('tell who holds the slots of a key and how many are before an instance in line [DASHBOARD A7]', async () => {
    const holder = await world.start(key);
    await world.claim(holder);
    const waiters = [await world.start(key), await world.start({ ...key, priority: 3 })];
    for (const id of waiters) await world.store.claimOne(oneRequest(id));
    const slots = async (instanceId = '') => (await look({ instanceId, concurrencyKey: 'depot' })).slots;
    expect(await slots(waiters[0])).toEqual({ holders: [holder], holderCount: 1, aheadCount: 1 });
    expect(await slots(waiters[1])).toEqual({ holders: [holder], holderCount: 1, aheadCount: 0 });
  });

  it('tell how far a rate limit is used', async () => {
    await limitTo(world, 3);
    await ask(world, { rate: 'mail' });
    expect((await look({ rateKeys: ['mail', 'free'] })).rates).toEqual([
      { key: 'mail', count: 1, max: 3, windowMs: 60_000 },
    ]);
  });

  it('concurrency keys are listed with holders and waiters in line while anybody holds or waits [DASHBOARD A7]', async () => {
    expect(await world.store.listConcurrencyKeys(page)).toEqual([]);
    const holder = await world.start({ ...key, maxConcurrency: 2 });
    await world.claim(holder);
    const since = await world.now();
    await world.advance(5);
    const [low, high] = [await world.start(key), await world.start({ ...key, priority: 2 })];
    for (const id of [low, high]) await world.store.claimOne(oneRequest(id));
    await world.start({ ...key, concurrencyKey: 'idle', nextFireAt: since + 900_000 });
    await world.claim(await world.start({ ...key, concurrencyKey: 'quay' }));
    const waiter = async (id: string, priority: number) => ({
      ...{ instanceId: id, priority, max: 1 },
      retryAt: (await world.view(id)).nextFireAt,
    });
    const depot = {
      ...{ tenantId: TENANT, key: 'depot', max: 2, holderCount: 1, waiterCount: 2 },
      holders: [{ instanceId: holder, since }],
      waiters: [await waiter(high, 2), await waiter(low, 1)],
    };
    const all = await world.store.listConcurrencyKeys(page);
    expect(all.map((one) => one.key)).toEqual(['depot', 'quay']);
    expect(all[0]).toEqual(depot);
    const short = await world.store.listConcurrencyKeys({ ...page, key: 'depot', perKey: 1 });
    expect(short).toEqual([{ ...depot, waiters: depot.waiters.slice(0, 1) }]);
    const second = await world.store.listConcurrencyKeys({ ...page, tenantId: null, limit: 1, offset: 1 });
    expect(second.map((one) => one.key)).toEqual(['quay']);
    expect(await world.store.listConcurrencyKeys({ ...page, tenantId: 'dunes' })).toEqual([]);
  });

  it('signals are listed newest first with what came of them, large payloads apart [SIG-9]', async () => {
    const id = await world.start();
    const send = async (signalType: string, payload: string) => {
      const signalId = nextId();
      await world.store.signal({ tenantId: TENANT, instanceId: id, signalId, signalType, payload });
      return signalId;
    };
    const first = await send('custom:one', 'x');
    const claim = await world.claim(id);
    const createdAt = await world.now();
    await world.advance(10);
    await world.apply(turnOf(claim, { inboxDone: allDone(claim) }));
    const second = await send('custom:two', 'y'.repeat(SIGNAL_PAYLOAD_SHOWN_MAX));
    const query = { tenantId: TENANT, instanceId: id, limit: 10, offset: 0 };
    const shown = { instanceId: id, isLeftOut: false };
    expect(await world.store.listSignals(query)).toEqual([
      {
        ...{ ...shown, id: second, signalType: 'custom:two', payload: null, isLeftOut: true },
        ...{ createdAt: createdAt + 10, deliveredAt: null, disposition: null },
      },
      {
        ...{ ...shown, id: first, signalType: 'custom:one', payload: 'x' },
        ...{ createdAt, deliveredAt: createdAt + 10, disposition: 'no_effect' },
      },
    ]);
    expect(await world.store.listSignals({ ...query, offset: 1 })).toMatchObject([{ id: first }]);
    expect(await world.store.listSignals({ ...query, tenantId: 'dunes' })).toBeNull();
    expect(await world.store.listSignals({ ...query, instanceId: nextId() })).toBeNull();
  });

  it('the input of a start is kept as it came [DASHBOARD A8]', async () => {
    const input = { parcel: 'PX-9004', n: [1, null] };
    const id = await world.start({ originalInput: input, data: { other: true } });
    expect(await world.store.getStartInput(TENANT, id)).toEqual({ input });
    expect(await world.store.getStartInput(null, id)).toEqual({ input });
    expect(await world.store.getStartInput('dunes', id)).toBe('unknown');
    expect(await world.store.getStartInput(null, nextId())).toBe('unknown');
  });

  it('open lists that wait are told by instance, gates first, and others only as far as asked [DASHBOARD A1]', async () => {
    const claim = await world.claim(await world.start());
    const branch = (index: number, of: Parameters<typeof frame>[0]) =>
      write(frame({ blockId: 'all', branch: index, detail: { kind: 'branch' }, ...of }));
    const naps = [9, 8].map((wakeAt, index) =>
      branch(index, { leaf: leaf({ state: 'waiting', reason: 'delay', wakeAt }) }),
    );
    const asks = branch(2, { leaf: waitingLeaf('input', { gate: gate() }) });
    const runs = branch(3, { leaf: leaf({ dispatchedAt: 1 }) });
    const join = write(
      frame({ blockId: 'all', detail: { kind: 'parallel', ends: [null, null, null, null] } }),
    );
    const frames = [write(frame()), join, ...naps, asks, runs];
    await world.apply(turnOf(claim, { frames, settle: settleAs('waiting', { openWaits: 1 }) }));
    const other = await world.start();
    const ids = [claim.instanceId, other, nextId()];
    const found = await world.store.listStanding(TENANT, ids, 2);
    expect([...found.keys()].toSorted()).toEqual([claim.instanceId, other].toSorted());
    const branches = (found.get(claim.instanceId) ?? []).map((one) => one.branch);
    expect(branches).toEqual([null, 2, 1]);
    expect((await world.store.listStanding('dunes', ids, 2)).size).toBe(0);
  });
}
