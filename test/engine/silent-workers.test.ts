import { describe, expect, it } from 'vitest';
import { step } from './support/blocks.ts';
import { SWEEP_MS } from './support/engine-process.ts';
import { verified } from './support/reshaping.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

/** A claim is silent after a minute; a sweep finds it. */
const SILENT_MS = 60_000 + 2 * SWEEP_MS;

async function claimed(members: Parameters<typeof step>[2]) {
  const world = new TestEngine();
  world.boot();
  const id = await world.start(await world.publish([step('b', 'charge', members)]));
  await world.untilState(id, 'waiting');
  const task = await world.poll('charge');
  if (task === null) throw new Error('there is no task');
  return { world, id, task };
}

describe('a worker that falls silent [CON-6]', () => {
  it('retry: the same task is offered again under the same key, as a redelivery', async () => {
    const { world, id, task } = await claimed({});
    await world.time.pass(SILENT_MS);
    const again = await world.poll('charge', 'worker-2');
    expect(again).toMatchObject({ id: task.id, redelivery: true, idempotencyKey: task.idempotencyKey });
    expect((await world.view(id)).state).toBe('waiting');
  });

  it('fail: ends the step with UNKNOWN_OUTCOME, and nobody gets the task again (RULINGS A20, B26)', async () => {
    const retry = { max_attempts: 5, initial_backoff: 0, max_backoff: 0 };
    const { world, id, task } = await claimed({ on_uncertain: 'fail', retry });
    const ended = await world.untilEnded(id, SILENT_MS);
    expect(ended).toMatchObject({
      state: 'failed',
      failure: { blockId: 'b', error: { code: 'UNKNOWN_OUTCOME', retryable: false } },
    });
    expect(await world.poll('charge', 'worker-2')).toBeNull();
    expect(await world.report(task, { ok: true, output: { charged: true } })).toBe('stale');
    expect(await verified(world, id)).toEqual([]);
  });

  it.each([
    ['fail', 1],
    ['ask', 1],
    ['retry', 0],
  ] as const)(
    '%s: %i failure counts for the breaker, since an attempt that is offered again has not ended [CB-2]',
    async (rule, failures) => {
      const { world, id } = await claimed({ on_uncertain: rule });
      await world.time.pass(SILENT_MS);
      const breaker = await world.store.getBreaker(TENANT, 'charge');
      expect(breaker?.failureCount ?? 0).toBe(failures);
      expect(breaker?.lastError ?? null).toBe(failures === 0 ? null : 'the worker fell silent');
      expect(await verified(world, id)).toEqual([]);
    },
  );

  it('fail: a retry by an operator gives out a new task under the key of the lost one (RULINGS B1)', async () => {
    const { world, id, task } = await claimed({ on_uncertain: 'fail' });
    await world.untilEnded(id, SILENT_MS);
    await world.answered(world.operate(id, { kind: 'retry' }));
    await world.untilState(id, 'waiting');
    const again = await world.poll('charge', 'worker-2');
    expect([again?.id === task.id, again?.idempotencyKey]).toEqual([false, task.idempotencyKey]);
  });

  it('fail: a worker that beats is not silent, however long it takes', async () => {
    const { world, id, task } = await claimed({ on_uncertain: 'fail' });
    for (let beats = 0; beats < 5; beats += 1) {
      await world.time.pass(30_000);
      const claim = { workerId: task.workerId ?? '', claimEpoch: task.claimEpoch };
      const beat = await world.store.heartbeatTask({ tenantId: TENANT, taskId: task.id, ...claim });
      expect(beat.status).toBe('ok');
    }
    expect(await world.report(task, { ok: true, output: { charged: true } })).toBe('accepted');
    expect((await world.untilEnded(id)).state).toBe('completed');
  });

  it.each([
    ['done', 'completed', false],
    ['not_done', 'completed', true],
    ['failed', 'failed', false],
  ] as const)(
    'ask: of a silent worker a person answers %s and the run is %s (RULINGS B10)',
    async (value, state, offers) => {
      const { world, id, task } = await claimed({ on_uncertain: 'ask' });
      await world.time.pass(SILENT_MS);
      const gates = await world.store.listOpenGates({
        ...{ tenantId: TENANT, namespace: null, instanceId: id, sequenceId: null, limit: 10, offset: 0 },
      });
      expect(gates.items.map(({ frame }) => frame.leaf?.gate?.kind)).toEqual(['outcome']);
      expect(await world.poll('charge', 'worker-2')).toBeNull();
      expect(await world.report(task, { ok: true, output: { charged: true } })).toBe('stale');
      await world.signal(id, 'custom:human_input:b', { value });
      await world.time.pass(1000);
      const again = await world.poll('charge', 'worker-2');
      expect(again?.idempotencyKey).toBe(offers ? task.idempotencyKey : undefined);
      if (again !== null) await world.report(again, { ok: true, output: { charged: true } });
      expect((await world.untilEnded(id)).state).toBe(state);
      expect(await verified(world, id)).toEqual([]);
    },
  );

  it('ask: the question outlives the timeout of the step, which ran for its worker', async () => {
    const { world, id } = await claimed({ on_uncertain: 'ask', timeout: 120_000 });
    await world.time.pass(600_000);
    expect((await world.view(id)).state).toBe('waiting');
    await world.signal(id, 'custom:human_input:b', { value: 'done' });
    expect((await world.untilEnded(id)).state).toBe('completed');
  });
});
