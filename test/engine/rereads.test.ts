import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import { Rereads } from '../../src/engine/rereads.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { step } from './support/blocks.ts';
import { calledBlocks, inject } from './support/reshaping.ts';
import { START_AT, TestEngine } from './support/test-engine.ts';

/** A world whose store says to every commit that another fact came in between, as long as it is told to. */
function refusingWorld(scripts: ConstructorParameters<typeof TestEngine>[0] & object) {
  let now = START_AT;
  let refuses = true;
  const inner = createMemoryStore({ now: () => now });
  const store: Store = {
    ...inner,
    commit: async (turns) => {
      if (!refuses) return inner.commit(turns);
      const { now: at } = await inner.ping();
      return { now: at, verdicts: turns.map(() => ({ verdict: 'refused' as const })) };
    },
  };
  const world = new TestEngine({
    ...scripts,
    store: {
      store,
      advance: async (ms: number) => {
        now += ms;
      },
    },
  });
  world.boot();
  return {
    world,
    recover: () => {
      refuses = false;
    },
  };
}

describe('a turn that reads its instance afresh (RULINGS B7)', () => {
  it('gives its lease back after 20 times in vain, and so many turns pause the run', async () => {
    const { world, recover } = refusingWorld({});
    const id = await world.start(await world.publish([step('w', 'packing')]));
    const paused = await world.untilState(id, 'paused', 10_000);
    expect(paused).toMatchObject({ metadata: { paused_reason: 'no_progress' }, recoveryCount: 0 });
    expect(world.sentCommits(id)).toHaveLength(20 * 20);
    expect(world.log().filter((line) => line.includes('again and again without a commit'))).toHaveLength(20);
    recover();
    await world.signal(id, 'resume');
    await world.untilState(id, 'waiting', 10_000);
  });

  it('lets its lease run out when a handler may have been called, so that its next call is told [REC-2]', async () => {
    const { world, recover } = refusingWorld({ scripts: { charge: {} } });
    const id = await world.start(await world.publish([step('a', 'charge')]));
    await world.time.pass(1000);
    expect(world.log().filter((line) => line.includes('again and again without a commit'))).toHaveLength(1);
    recover();
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(world.ledger.of('a').map(({ redelivery }) => redelivery)).toEqual([false, true]);
  });

  it('is told what is too often: 20 times without a commit between them, 100 times in a turn, and 200 while nothing runs', () => {
    const [stuck, busy] = [new Rereads(), new Rereads()];
    for (let times = 1; times < 20; times += 1) stuck.count(false);
    expect([stuck.areInVain({ areOver: false }), stuck.areMany]).toEqual([false, false]);
    stuck.count(false);
    expect([stuck.areInVain({ areOver: false }), stuck.areMany]).toEqual([true, false]);
    for (let times = 1; times < 100; times += 1) busy.count(true);
    expect([busy.areInVain({ areOver: true }), busy.areMany]).toEqual([false, false]);
    busy.count(true);
    expect([busy.areInVain({ areOver: true }), busy.areMany]).toEqual([false, true]);
    for (let times = 101; times <= 200; times += 1) busy.count(true);
    expect([busy.areInVain({ areOver: true }), busy.areInVain({ areOver: false })]).toEqual([true, false]);
  });

  it('ends after a hundred changes of what the run is made of, and another turn goes on', async () => {
    const world = new TestEngine({ scripts: { quick: {}, slow: { takesMs: 100 } } });
    world.boot();
    const [passes, count] = [400, 150];
    const body = [step('s', 'slow')];
    const loop = { type: 'loop', id: 'l', condition: 'true', max_iterations: passes, body };
    const id = await world.start(await world.publish([loop]));
    for (let n = 0; n < count; n += 1) {
      await world.answered(inject(world, id, [step(`x${n}`, 'quick')]));
      await world.time.pass(100);
    }
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed', epoch: 2 });
    expect(calledBlocks(world, id)).toHaveLength(passes + count);
  });
});
