import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { sleepStep, step } from './support/blocks.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const refuse = (): StepOutcome => ({
  ok: false,
  failure: { message: 'no', retryable: false, code: 'REFUSED' },
});
const scripts = {
  quick: {},
  slow: { takesMs: 2000 },
  refused: { outcome: refuse },
  once_refused: {
    outcome: (_: unknown, nth: number): StepOutcome => (nth === 0 ? refuse() : { ok: true, output: 'fine' }),
  },
};

async function rowsOf(world: TestEngine, id: string): Promise<readonly string[]> {
  const rows = (await world.store.listOutputs(TENANT, id, { node: false, retry: false })) ?? [];
  return rows.map(({ blockId, kind, runNo }) => `${blockId} ${kind} ${runNo}`);
}

describe('alerts in the engine', () => {
  it('are one row, one webhook and one count, also for a run that rests [SLA-1] [SLA-3]', async () => {
    const webhooks = {
      urls: ['https://hooks.example.com/a'],
      secret: null,
      timeoutMs: 10_000,
      maxRetries: 3,
      cancelled: false,
    };
    const world = new TestEngine({ scripts, settings: { webhooks } });
    const process = world.boot();
    const sla = { max_runtime: 60_000 };
    const id = await world.start(
      await world.publish([step('g', 'quick', { wait_for_input: { prompt: '?' } })], { sla }),
    );
    await world.time.pass(50_000);
    expect(process.engine.deps.counters.valueOf('orch8_sla_breached_total')).toBe(0);
    await world.time.pass(600_000);
    expect(await rowsOf(world, id)).toEqual(['_sla:runtime sla 1']);
    expect(process.engine.deps.counters.valueOf('orch8_sla_breached_total')).toBe(1);
    expect(await world.store.listWebhookOutbox(TENANT, 'pending', 10)).toMatchObject([
      { instanceId: id, eventType: 'instance.sla_breached', payload: { data: { state: 'waiting' } } },
    ]);
    expect(await world.view(id)).toMatchObject({ state: 'waiting', dueAt: null });
    expect(await world.store.listJournal(TENANT, id, 10)).toMatchObject([{ kind: 'sla_breach' }]);
  });

  it('come on time for a paused run too, whoever paused it [SLA-1]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(
      await world.publish([sleepStep('s', 900_000)], { sla: { max_runtime: 60_000 } }),
    );
    await world.time.pass(1000);
    const pause = { kind: 'set_state' as const, state: 'paused' as const, nextFireAt: null };
    await world.answered(world.operate(id, pause));
    await world.time.pass(60_000);
    expect(await rowsOf(world, id)).toEqual(['_sla:runtime sla 1']);
    expect(await world.view(id)).toMatchObject({ state: 'paused', dueAt: null });
  });

  it.each([3_600_000, -1000])(
    'stay where they are when the delay of a step moves by %i ms [SLA-2] (12.5)',
    async (offsetMs) => {
      const world = new TestEngine({ scripts });
      world.boot();
      const id = await world.start(
        await world.publish([step('d', 'quick', { delay: { duration: 900_000 } })], {
          sla: { max_step_runtime: 60_000 },
        }),
      );
      await world.time.pass(1000);
      await world.untilState(id, 'scheduled');
      await world.answered(world.operate(id, { kind: 'reschedule', offsetMs }));
      expect(await rowsOf(world, id)).toEqual([]);
      await world.time.pass(60_000);
      expect(await rowsOf(world, id)).toEqual(['_sla:step:d sla 1']);
      expect(await world.view(id)).toMatchObject({ state: 'scheduled' });
      expect((await world.untilEnded(id, 5_000_000)).state).toBe('completed');
    },
  );
});

describe('interceptors in the engine', () => {
  const invoke = (handler: string, params: JsonObject = {}): JsonObject => ({
    handler,
    params,
    invoke: true,
  });

  it('are bounded to 5 s and change nothing when they fail [INT-5]', async () => {
    const world = new TestEngine({ scripts: { ...scripts, stuck: { takesMs: 60_000 } } });
    world.boot();
    const id = await world.start(
      await world.publish([step('a', 'quick'), step('b', 'quick')], {
        interceptors: {
          before_step: invoke('stuck'),
          after_step: invoke('refused'),
          on_complete: invoke('nobody'),
        },
      }),
    );
    const startedAt = world.time.now;
    await world.untilState(id, 'completed');
    expect(world.time.now - startedAt).toBe(10_000);
    expect(await world.outputs(id)).toMatchObject({
      '_interceptor:before:a': { _interceptor_error: '_interceptor:before:a did not finish within 5000 ms' },
      '_interceptor:after:a': { _interceptor_error: 'no' },
      '_interceptor:on_complete': { _interceptor_error: 'the handler nobody is not in this process' },
      a: { did: 'a' },
    });
  });

  it('cost no commit of their own, neither traces nor calls [INT-1] [INT-2]', async () => {
    const blocks = [step('a', 'quick'), step('b', 'noop'), step('c', 'quick')];
    const commits: number[] = [];
    for (const interceptors of [
      undefined,
      {
        before_step: { handler: 'quick' },
        after_step: { handler: 'quick' },
        on_complete: { handler: 'quick' },
      },
      { before_step: invoke('quick'), after_step: invoke('quick'), on_complete: invoke('quick') },
    ]) {
      const world = new TestEngine({ scripts });
      world.boot();
      const id = await world.start(
        await world.publish(blocks, interceptors === undefined ? {} : { interceptors }),
      );
      await world.untilState(id, 'completed');
      commits.push(world.sentCommits(id).length);
    }
    expect(commits).toEqual([commits[0], commits[0], commits[0]]);
  });

  it('see outputs of steps that are stored and of those that are not yet [INT-5]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(
      await world.publish([step('a', 'quick'), sleepStep('n', 30_000), step('b', 'quick')], {
        interceptors: {
          after_step: invoke('transform', {
            a: '{{outputs.a.did}}',
            b: '{{outputs.b.did}}',
            of: '{{step.id}}',
          }),
        },
      }),
    );
    await world.untilState(id, 'completed');
    const outputs = await world.outputs(id);
    expect([
      outputs['_interceptor:after:a'],
      outputs['_interceptor:after:n'],
      outputs['_interceptor:after:b'],
    ]).toEqual([
      { a: 'a', b: null, of: 'a' },
      { a: 'a', b: null, of: 'n' },
      { a: 'a', b: 'b', of: 'b' },
    ]);
  });

  it('of signals are called once for each signal, and a write of theirs is dropped [INT-3] [INT-5]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(
      await world.publish([sleepStep('n', 5000), step('g', 'get_state', { params: { key: 'k' } })], {
        interceptors: { on_signal: invoke('set_state', { key: 'k', value: '{{signal.payload.n}}' }) },
      }),
    );
    await world.time.pass(100);
    for (const n of [1, 2]) await world.signal(id, 'custom:knock', { n });
    await world.untilState(id, 'completed');
    const rows = (await world.store.listOutputs(TENANT, id, { node: false, retry: false })) ?? [];
    expect(rows.filter(({ blockId }) => blockId === '_interceptor:on_signal')).toHaveLength(2);
    expect((await world.outputs(id))['g']).toEqual({ key: 'k', value: null });
  });
});
