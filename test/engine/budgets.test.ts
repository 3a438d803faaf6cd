import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { parallel, step, steps } from './support/blocks.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const scripts = { quick: {}, slow: { takesMs: 1_000 }, tidy: { kind: 'pure' as const } };

function worldOf(settings = {}): TestEngine {
  const world = new TestEngine({ scripts, settings });
  world.boot();
  return world;
}

async function started(world: TestEngine, blocks: JsonObject[], budget: JsonObject): Promise<string> {
  return world.start(await world.publish(blocks), { budget });
}

const breach = (limit: string, limitValue: number, actual: number) => ({
  state: 'paused',
  metadata: { paused_reason: 'budget_exceeded', budget_breach: { limit, limit_value: limitValue, actual } },
});

async function setBudget(world: TestEngine, instanceId: string, budget: JsonObject): Promise<void> {
  await world.store.setBudget({ tenantId: TENANT, instanceId, factId: world.nextId(), budget });
  world.look(instanceId);
  await world.time.calm();
}

async function resume(world: TestEngine, id: string): Promise<void> {
  await world.signal(id, 'resume');
  await world.time.calm();
  world.look(id);
  await world.time.pass(5_000);
}

describe('budgets (13.6)', () => {
  it.each(['quick', 'tidy'])(
    'max_steps 3 and six steps of %s: four run, then it pauses, and each resume runs one more (F15) [BUD-1] [BUD-3] [BUD-4]',
    async (handler) => {
      const world = worldOf();
      const id = await started(world, steps('s', 6, handler), { max_steps: 3 });
      expect(await world.untilState(id, 'paused')).toMatchObject({
        ...breach('max_steps', 3, 4),
        totalSteps: 4,
      });
      await world.signal(id, 'resume');
      await world.time.pass(1_000);
      expect(await world.view(id)).toMatchObject({ ...breach('max_steps', 3, 5), totalSteps: 5 });
      await world.signal(id, 'resume');
      await world.time.pass(1_000);
      const ended = await world.view(id);
      expect(ended).toMatchObject({ state: 'completed', totalSteps: 6, metadata: {} });
      expect(ended.metadata).toEqual({});
    },
  );

  it('a run that has used it up and has nothing left to do completes [BUD-3]', async () => {
    const world = worldOf();
    const id = await started(world, steps('s', 4, 'quick'), { max_steps: 3 });
    expect((await world.untilEnded(id)).state).toBe('completed');
  });

  it('raised caps let it go on without a resume, lower ones do not (F17) [BUD-4]', async () => {
    const world = worldOf();
    const id = await started(world, steps('s', 6, 'quick'), { max_steps: 1 });
    await world.untilState(id, 'paused');
    await setBudget(world, id, { max_steps: 1, max_external_calls: 9 });
    expect(await world.view(id)).toMatchObject(breach('max_steps', 1, 2));
    await setBudget(world, id, { max_steps: 20 });
    expect(await world.untilEnded(id)).toMatchObject({
      state: 'completed',
      metadata: {},
      budget: { max_steps: 20 },
    });
  });

  it('a pause by a person is not lifted by other caps', async () => {
    const world = worldOf();
    const id = await started(world, steps('s', 6, 'slow'), { max_steps: 99 });
    await world.time.pass(1_500);
    await world.signal(id, 'pause');
    await world.untilState(id, 'paused');
    await setBudget(world, id, { max_steps: 100 });
    expect(await world.view(id)).toMatchObject({ state: 'paused', budget: { max_steps: 100 } });
  });

  it('branches side by side cannot all take the last step [BUD-3]', async () => {
    const world = worldOf();
    const branches = steps('s', 5, 'slow').map((one) => [one]);
    const id = await started(world, [parallel('p', ...branches)], { max_steps: 1 });
    const paused = await world.untilState(id, 'paused');
    await world.time.pass(2_000);
    expect(paused).toMatchObject(breach('max_steps', 1, 2));
    expect(world.ledger.entries).toHaveLength(2);
    expect(await world.view(id)).toMatchObject({ state: 'paused', totalSteps: 2 });
  });

  it('external calls and worker tasks count, and so do the tokens of model handlers [BUD-2]', async () => {
    const world = worldOf();
    const id = await started(world, [step('a', 'far'), step('b', 'far'), step('c', 'far')], {
      max_external_calls: 1,
    });
    for (const handler of ['far', 'far']) {
      await world.time.calm();
      const task = await world.poll(handler);
      if (task !== null) await world.report(task, { ok: true, output: null });
    }
    expect(await world.untilState(id, 'paused')).toMatchObject(breach('max_external_calls', 1, 2));
    const models = await started(world, [step('a', 'llm_call'), step('b', 'quick')], {
      max_total_tokens: 10,
    });
    await world.store.pollTasks({
      ...{ tenantId: TENANT, handlerName: 'llm_call', workerId: 'w', version: null, limit: 1 },
    });
    expect(models).not.toBe(id);
  });

  it('wall time counts pauses too, and is looked at before the next leaf [BUD-2]', async () => {
    const world = worldOf();
    const delayed = step('b', 'quick', { delay: { duration: 60_000 } });
    const id = await started(world, [step('a', 'quick'), delayed, step('c', 'quick')], {
      max_wall_time_ms: 30_000,
    });
    const paused = await world.untilState(id, 'paused');
    expect(paused.metadata).toMatchObject({
      budget_breach: { limit: 'max_wall_time_ms', limit_value: 30_000 },
    });
    expect(world.ledger.of('b')).toHaveLength(0);
    await resume(world, id);
    expect(world.ledger.of('b')).toHaveLength(1);
    expect(world.ledger.of('c')).toHaveLength(0);
  });

  it.each([{ max_steps: null }, { max_steps: -1 }, {}, { max_cost_microunits: 0 }])(
    'caps that are absent, null, negative or not measured here do not limit: %j [BUD-1]',
    async (budget) => {
      const world = worldOf();
      const id = await started(world, steps('s', 3, 'quick'), budget);
      expect((await world.untilEnded(id)).state).toBe('completed');
    },
  );

  it('a child inherits the caps and counts for itself [SUB-3]', async () => {
    const world = worldOf();
    const child = await world.publish(steps('c', 3, 'quick'));
    const name = (await world.store.getSequence(TENANT, child))?.name ?? '';
    const call = { type: 'sub_sequence', id: 'call', sequence_name: name, input: {} };
    const id = await started(world, [step('a', 'quick'), call], { max_steps: 1 });
    await world.time.pass(1_000);
    const [kid] = (await world.store.listChildren(TENANT, id)) ?? [];
    expect(kid).toMatchObject({ ...breach('max_steps', 1, 2), budget: { max_steps: 1 } });
    expect(await world.view(id)).toMatchObject({ state: 'waiting' });
  });

  it('a dry run has no budget [DRY-4]', async () => {
    const world = worldOf();
    const sequence = await world.publish(steps('s', 3, 'quick'));
    const id = await world.start(sequence, { budget: { max_steps: 0 }, dryRun: true });
    expect((await world.untilEnded(id)).state).toBe('completed');
  });

  it('a cancel drains a run over its budget', async () => {
    const world = worldOf();
    const id = await started(world, steps('s', 4, 'quick'), { max_steps: 1 });
    await world.untilState(id, 'paused');
    await world.signal(id, 'cancel');
    expect((await world.untilEnded(id, 1_000)).state).toBe('cancelled');
  });
});

describe('the limit of steps ([END-1])', () => {
  it('a run that would take more fails as a whole, whatever surrounds the step [END-1] [END-2]', async () => {
    const world = worldOf({ maxStepsPerInstance: 3 });
    const caught = {
      type: 'try_catch',
      id: 't',
      try_block: steps('s', 5, 'quick'),
      catch_block: [step('c', 'quick')],
    };
    const id = await world.start(await world.publish([caught]));
    expect(await world.untilEnded(id)).toMatchObject({
      state: 'failed',
      totalSteps: 3,
      failure: { blockId: 's4', error: { code: 'MAX_STEPS_EXCEEDED', retryable: false } },
    });
    expect(world.ledger.of('c')).toHaveLength(0);
  });

  it('exactly as many are fine, and a retry counts afresh', async () => {
    const world = worldOf({ maxStepsPerInstance: 3 });
    const fine = await world.start(await world.publish(steps('s', 3, 'quick')));
    expect((await world.untilEnded(fine)).state).toBe('completed');
    const id = await world.start(await world.publish(steps('s', 5, 'quick')));
    await world.untilEnded(id);
    await world.answered(world.operate(id, { kind: 'retry' }));
    expect((await world.untilEnded(id)).state).toBe('completed');
  });

  it('attempts and branches count [END-2]', async () => {
    const world = worldOf({ maxStepsPerInstance: 2 });
    const branches = steps('s', 4, 'slow').map((one) => [one]);
    const id = await world.start(await world.publish([parallel('p', ...branches)]));
    expect(await world.untilEnded(id)).toMatchObject({ state: 'failed', totalSteps: 2 });
  });
});
