import { expect, it } from 'vitest';
import { TENANT } from '../support/turn-builder.ts';
import { ask, poolOf, resource } from './limit-acts.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describePools(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const next = async (dice = 0) => (await ask(world, { pool: { name: 'senders', dice } })).answer;
  const given = async (dice = 0) => {
    const answer = await next(dice);
    return answer?.granted === true ? answer.taken.resource : answer?.reason;
  };

  it('round robin goes by creation and skips what is at its cap; the next day begins afresh (F07, RULINGS B24)', async () => {
    await poolOf(
      world,
      'round_robin',
      resource({ dailyCap: 2 }),
      resource({ resourceKey: 'r2', dailyCap: 1 }),
    );
    expect([await given(), await given(), await given()]).toEqual(['r1', 'r2', 'r1']);
    const at = await world.now();
    const midnight = (Math.floor(at / 86_400_000) + 1) * 86_400_000;
    expect(await next()).toEqual({ granted: false, reason: 'pool', until: midnight });
    await world.advance(midnight - at);
    expect(['r1', 'r2']).toContain(await given());
  });

  it('weighted goes by the weights of those available and never chooses weight 0', async () => {
    await poolOf(
      world,
      'weighted',
      resource({ weight: 0, resourceKey: 'never' }),
      resource({ weight: 3, resourceKey: 'often' }),
      resource({ weight: 1, resourceKey: 'seldom' }),
    );
    expect([await given(0), await given(0.74), await given(0.76), await given(0.99)]).toEqual([
      'often',
      'often',
      'seldom',
      'seldom',
    ]);
  });

  it('random takes each of those available alike', async () => {
    await poolOf(world, 'random', resource({ weight: 9 }), resource({ resourceKey: 'r2' }));
    expect([await given(0.4), await given(0.6)]).toEqual(['r1', 'r2']);
  });

  it('says empty when none is enabled, and unknown when there is no pool', async () => {
    expect(await given()).toBe('pool_unknown');
    await poolOf(world, 'round_robin', resource({ enabled: false }));
    expect(await given()).toBe('pool_empty');
  });

  it('the cap grows day by day in the warm-up', async () => {
    const today = new Date(await world.now()).toISOString().slice(0, 10);
    await poolOf(
      world,
      'round_robin',
      resource({ dailyCap: 4, warmupStart: today, warmupDays: 2, warmupStartCap: 1 }),
    );
    const perDay: number[] = [];
    for (let day = 0; day < 3; day += 1) {
      let count = 0;
      while ((await given()) === 'r1') count += 1;
      perDay.push(count);
      await world.advance(86_400_000);
    }
    expect(perDay).toEqual([1, 2, 4]);
  });

  it('pools and resources are made, changed, listed and deleted within their tenant', async () => {
    const pool = await poolOf(world, 'weighted', resource({ dailyCap: 5, warmupStart: '2027-02-01' }));
    const [first] = (await world.store.listResources(TENANT, pool.id)) ?? [];
    expect(first).toMatchObject({
      poolId: pool.id,
      dailyUsage: 0,
      dailyUsageDate: null,
      warmupStart: '2027-02-01',
    });
    const id = first?.id ?? '';
    const changed = await world.store.changeResource(TENANT, pool.id, id, {
      enabled: false,
      warmupStart: null,
    });
    expect(changed).toMatchObject({ enabled: false, warmupStart: null, dailyCap: 5 });
    expect(await world.store.changeResource('other', pool.id, id, { weight: 2 })).toBeNull();
    expect(await world.store.getPool(TENANT, pool.id)).toMatchObject({ name: 'senders', roundRobinIndex: 0 });
    expect(await world.store.getPool('other', pool.id)).toBeNull();
    expect(await world.store.listPools(TENANT, 10)).toEqual([pool]);
    expect(await world.store.listResources(TENANT, pool.id, { offset: 0, limit: 1 })).toHaveLength(1);
    expect(await world.store.listResources(TENANT, pool.id, { offset: 1, limit: 1 })).toEqual([]);
    const second = await poolOf(world, 'random');
    expect(await world.store.deleteResource(TENANT, second.id, id)).toBe('foreign');
    expect(await world.store.deleteResource(TENANT, pool.id, id)).toBe('deleted');
    expect(await world.store.deleteResource(TENANT, pool.id, id)).toBe('deleted');
    expect(await world.store.deletePool(TENANT, pool.id)).toBe(true);
    expect(await world.store.deletePool(TENANT, pool.id)).toBe(false);
    expect(await world.store.listResources(TENANT, pool.id)).toBeNull();
    expect(await world.store.addResource(TENANT, pool.id, resource())).toBeNull();
    expect(await world.store.deleteResource(TENANT, pool.id, id)).toBe('no_pool');
  });
}
