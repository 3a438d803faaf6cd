import { describe, expect, it } from 'vitest';
import type { NewResource } from '../../src/ports/store/limits.ts';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { step } from './support/blocks.ts';
import { START_AT, TENANT, TestEngine } from './support/test-engine.ts';

const busy: StepOutcome = { ok: false, failure: { message: 'busy', retryable: true } };
const done: StepOutcome = { ok: true, output: 'sent' };
const DAY = 86_400_000;
const MIDNIGHT = (Math.floor(START_AT / DAY) + 1) * DAY;

async function worldOf(...resources: readonly Partial<NewResource>[]): Promise<TestEngine> {
  const world = new TestEngine({
    scripts: { send: {}, flaky: { outcome: (_, nth) => (nth === 0 ? busy : done) } },
  });
  // A minute before midnight in UTC.
  world.time.now = MIDNIGHT - 60_000;
  const pool = { id: world.nextId(), tenantId: TENANT, name: 'senders', strategy: 'round_robin' as const };
  await world.store.createPool(pool);
  for (const one of resources) {
    await world.store.addResource(TENANT, pool.id, {
      ...{ id: world.nextId(), resourceKey: 'r', name: 'n', weight: 1, enabled: true, dailyCap: 0 },
      ...{ warmupStart: null, warmupDays: 0, warmupStartCap: 0 },
      ...one,
    });
  }
  world.boot();
  return world;
}

const from = (members = {}) =>
  step('a', 'send', { pool: 'senders', params: { from: '{{runtime.resource_key}}' }, ...members });
const senders = (world: TestEngine) => world.ledger.of('a').map(({ params }) => params);

describe('resource pools (13.4, RULINGS B24)', () => {
  it('each attempt is given a resource, which its params and runtime.resource_key show', async () => {
    const world = await worldOf({ resourceKey: 'r1' }, { resourceKey: 'r2' });
    const sequence = await world.publish([from()]);
    for (let n = 0; n < 3; n += 1) await world.untilEnded(await world.start(sequence));
    expect(senders(world)).toEqual([{ from: 'r1' }, { from: 'r2' }, { from: 'r1' }]);
    const id = await world.start(sequence);
    const ended = await world.untilEnded(id);
    expect(ended.currentStep).toMatchObject({ blockId: 'a', resource: 'r2' });
  });

  it('with all at their caps the run waits for the next UTC day and then is served (F07)', async () => {
    const world = await worldOf({ resourceKey: 'r1', dailyCap: 2 }, { resourceKey: 'r2', dailyCap: 1 });
    const sequence = await world.publish([from()]);
    const ids = [];
    for (let n = 0; n < 4; n += 1) ids.push(await world.start(sequence));
    await world.time.calm();
    expect(await world.view(ids[3] ?? '')).toMatchObject({ state: 'scheduled', nextFireAt: MIDNIGHT });
    const { frames } = (await world.store.getFrontier(TENANT, ids[3] ?? '')) ?? { frames: [] };
    expect(frames[0]?.leaf).toMatchObject({ reason: 'pool', limit: 'senders' });
    expect((await world.untilEnded(ids[3] ?? '')).state).toBe('completed');
    expect(senders(world)).toEqual([{ from: 'r1' }, { from: 'r2' }, { from: 'r1' }, { from: 'r2' }]);
  });

  it('a retry is given another resource', async () => {
    const world = await worldOf({ resourceKey: 'r1' }, { resourceKey: 'r2' });
    const retry = { max_attempts: 2, initial_backoff: 1, max_backoff: 1 };
    await world.untilEnded(await world.start(await world.publish([from({ handler: 'flaky', retry })])));
    expect(senders(world)).toEqual([{ from: 'r1' }, { from: 'r2' }]);
  });

  it.each([
    ['POOL_NOT_FOUND', { pool: 'nobody' }],
    ['POOL_EMPTY', {}],
  ])(
    'without anything that could be given the step fails with %s and may be caught',
    async (code, members) => {
      const world = await worldOf({ enabled: false });
      const failed = await world.untilEnded(await world.start(await world.publish([from(members)])));
      expect(failed).toMatchObject({ state: 'failed', failure: { blockId: 'a', error: { code } } });
      const caught = {
        type: 'try_catch',
        id: 't',
        try_block: [from(members)],
        catch_block: [step('c', 'send')],
      };
      expect((await world.untilEnded(await world.start(await world.publish([caught])))).state).toBe(
        'completed',
      );
    },
  );

  it('is taken after the rate token: a step that waits for a token holds no resource', async () => {
    const world = await worldOf({ resourceKey: 'r1', dailyCap: 5 });
    await world.store.putRateLimit({ tenantId: TENANT, resourceKey: 'mail', maxCount: 0, windowMs: 60_000 });
    await world.start(await world.publish([from({ rate_limit_key: 'mail' })]));
    await world.time.calm();
    const [pool] = await world.store.listPools(TENANT, 1);
    expect(await world.store.listResources(TENANT, pool?.id ?? '')).toMatchObject([{ dailyUsage: 0 }]);
  });

  it('a worker is given the resource in params and context', async () => {
    const world = await worldOf({ resourceKey: 'r1' });
    await world.start(await world.publish([from({ handler: 'far' })]));
    await world.time.calm();
    const task = await world.poll('far');
    expect(task).toMatchObject({ params: { from: 'r1' }, context: { runtime: { resource_key: 'r1' } } });
  });
});
