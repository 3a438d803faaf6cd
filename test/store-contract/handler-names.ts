import { expect, it } from 'vitest';
import type { LiveHandlers, LiveWithin } from '../../src/ports/store/handler-names.ts';
import type { MakeStore } from './store-under-test.ts';
import { pollRequest, useWorld } from './world.ts';

const WITHIN: LiveWithin = { announcedWithinMs: 90_000, polledWithinMs: 120_000 };

export function describeHandlerNames(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const announce = (buildId: string, ...names: readonly string[]): Promise<LiveHandlers> =>
    world.store.announceHandlers(
      { buildId, handlers: names.map((name) => ({ name, kind: 'effect' })) },
      WITHIN,
    );
  const live = (): Promise<LiveHandlers> => world.store.listLiveHandlers(WITHIN);

  it('no handler is alive in an empty store (RULINGS B8)', async () => {
    expect(await live()).toEqual({ announced: [], polled: [] });
  });

  it('an announcement answers the names of all builds, its own included, sorted and once each', async () => {
    expect(await announce('b-1', 'noop', 'charge')).toEqual({ announced: ['charge', 'noop'], polled: [] });
    const both = { announced: ['Zeta', 'charge', 'charge@2', 'noop'], polled: [] };
    expect(await announce('b-2', 'charge', 'charge@2', 'Zeta')).toEqual(both);
    expect(await live()).toEqual(both);
  });

  it('a name that no build announces any more is alive for the given time only', async () => {
    await announce('b-1', 'charge', 'refund');
    await world.advance(60_000);
    await announce('b-2', 'charge');
    await world.advance(30_000);
    expect((await live()).announced).toEqual(['charge', 'refund']);
    await world.advance(1);
    expect((await live()).announced).toEqual(['charge']);
    await world.advance(60_000);
    expect((await live()).announced).toEqual([]);
  });

  it('an announcement again keeps names alive, and one with another kind takes their place', async () => {
    await announce('b-1', 'charge');
    await world.advance(80_000);
    const pure = { buildId: 'b-1', handlers: [{ name: 'charge', kind: 'pure' as const }] };
    expect((await world.store.announceHandlers(pure, WITHIN)).announced).toEqual(['charge']);
    await world.advance(80_000);
    expect((await live()).announced).toEqual(['charge']);
  });

  it('a name that a worker polled for lately is served, whatever the tenant', async () => {
    await world.store.pollTasks(pollRequest({ tenantId: 'other' }));
    await world.store.pollTasks(pollRequest({ tenantId: null, workerId: 'w-porto-1' }));
    await world.advance(100_000);
    await world.store.pollTasks(pollRequest({ handlerName: 'label_print' }));
    expect(await live()).toEqual({ announced: [], polled: ['label_print', 'parcel_lookup'] });
    await world.advance(20_001);
    expect((await announce('b-1', 'noop')).polled).toEqual(['label_print']);
  });

  it('a build without handlers announces nothing, and names of long ago are forgotten', async () => {
    await announce('b-1', 'charge');
    await world.advance(24 * 60 * 60 * 1000 + 1);
    const forEver = { announcedWithinMs: 365 * 24 * 60 * 60 * 1000, polledWithinMs: 0 };
    expect((await world.store.listLiveHandlers(forEver)).announced).toEqual(['charge']);
    expect((await announce('b-2')).announced).toEqual([]);
    expect((await world.store.listLiveHandlers(forEver)).announced).toEqual([]);
  });
}
