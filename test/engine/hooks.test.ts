import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { explainInstance } from '../../src/engine/explain-instance.ts';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { parallel, sleepStep, step } from './support/blocks.ts';
import { LEASE_MS } from './support/engine-process.ts';
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

const members = (...hooks: readonly JsonObject[]): JsonObject => ({ on_failure: hooks });

async function rowsOf(world: TestEngine, id: string): Promise<readonly string[]> {
  const rows = (await world.store.listOutputs(TENANT, id, { node: false, retry: false })) ?? [];
  return rows.map(({ blockId, kind, runNo }) => `${blockId} ${kind} ${runNo}`);
}

describe('cleanup hooks in the engine', () => {
  it('run at once after the end, without waiting for a sweep [HOOK-1] [HOOK-4]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(
      await world.publish([step('x', 'refused')], members(step('a', 'quick'), step('b', 'slow'))),
    );
    await world.untilState(id, 'failed');
    const ended = world.time.now;
    await world.time.until(async () => (await world.outputs(id))['b'] !== undefined, 60_000);
    expect(world.time.now - ended).toBeLessThanOrEqual(2100);
    expect(await world.view(id)).toMatchObject({
      state: 'failed',
      dueAt: null,
      leaseUntil: null,
      openWaits: 0,
    });
    expect(world.ledger.entries.map(({ blockId }) => blockId)).toEqual(['x', 'a', 'b']);
  });

  it('go on in another process when theirs dies between two of them [HOOK-4]', async () => {
    const world = new TestEngine({ scripts });
    const first = world.boot();
    const id = await world.start(
      await world.publish(
        [step('x', 'refused')],
        members(step('a', 'quick'), step('b', 'slow'), step('c', 'quick')),
      ),
    );
    world.ledger.onCall = ({ blockId, process }) => {
      if (blockId === 'b' && process === first.name) first.crash();
    };
    await world.untilState(id, 'failed');
    await world.time.pass(500);
    const next = world.boot();
    const told = await explainInstance(next.useCases, { tenantId: TENANT, isAdmin: false }, id);
    expect(told.ok && told.value.summary).toContain('its cleanup hooks are not done: the turn goes on');
    await world.time.until(async () => (await world.outputs(id))['c'] !== undefined, 3 * LEASE_MS);
    const calls = world.ledger.entries.map(
      ({ blockId, redelivery }) => `${blockId}${redelivery ? ' again' : ''}`,
    );
    expect(calls).toEqual(['x', 'a', 'b', 'b again', 'c']);
    const keys = world.ledger.of('b').map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(1);
    expect(await rowsOf(world, id)).toEqual(['x error 1', 'a hook 1', 'b hook 1', 'c hook 1']);
  });

  it('give up a hook that ends its process again and again, and go on with the next one [HOOK-1] [REC-3]', async () => {
    const world = new TestEngine({ scripts, settings: { maxRecoveries: 2 } });
    world.boot();
    const id = await world.start(
      await world.publish([step('x', 'refused')], members(step('bad', 'quick'), step('good', 'quick'))),
    );
    world.ledger.onCall = ({ blockId, process }) => {
      if (blockId !== 'bad') return;
      world.processes.find(({ name }) => name === process)?.crash();
      world.time.at(world.time.now, () => world.boot());
    };
    await world.time.until(async () => (await world.outputs(id))['good'] !== undefined, 10 * LEASE_MS);
    expect((await world.outputs(id))['bad']).toMatchObject({ __error__: true, code: 'MAX_RETRIES_EXCEEDED' });
    expect(world.ledger.of('bad')).toHaveLength(3);
    expect(await world.view(id)).toMatchObject({ state: 'failed', dueAt: null, failure: { blockId: 'x' } });
  });

  it('come before a retry that is asked for meanwhile [HOOK-1] [OP-1]', async () => {
    const world = new TestEngine({ scripts: { ...scripts, slow: { takesMs: 500 } } });
    world.boot();
    const sequenceId = await world.publish(
      [step('x', 'once_refused')],
      members(step('a', 'slow'), step('b', 'slow')),
    );
    const id = await world.start(sequenceId);
    await world.untilState(id, 'failed');
    const answer = await world.answered(world.operate(id, { kind: 'retry' }));
    expect(answer).toEqual({ status: 'done', state: 'scheduled' });
    await world.untilState(id, 'completed');
    expect(await rowsOf(world, id)).toEqual(['a hook 1', 'b hook 1', 'x result 2']);
  });

  it('make a retry wait only so long: then it is told that the instance is being worked on', async () => {
    const world = new TestEngine({ scripts: { ...scripts, slow: { takesMs: 20_000 } } });
    world.boot();
    const id = await world.start(
      await world.publish([step('x', 'once_refused')], members(step('a', 'slow'))),
    );
    await world.untilState(id, 'failed');
    expect(await world.answered(world.operate(id, { kind: 'retry' }))).toEqual({ status: 'busy' });
    await world.time.pass(20_000);
    expect((await world.answered(world.operate(id, { kind: 'retry' }))).status).toBe('done');
  });

  it('run after an operator has cancelled the run under a live lease, and after one that rests [CAN-7]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const hooks = { on_cancel: [step('undo', 'quick')] };
    const working = await world.start(
      await world.publish([parallel('p', [step('s', 'slow')], [sleepStep('n', 900_000)])], hooks),
    );
    const resting = await world.start(
      await world.publish([step('g', 'quick', { wait_for_input: { prompt: '?' } })], hooks),
    );
    await world.time.pass(500);
    for (const id of [working, resting]) {
      const cancel = { kind: 'set_state' as const, state: 'cancelled' as const, nextFireAt: null };
      expect(await world.answered(world.operate(id, cancel))).toEqual({ status: 'done', state: 'cancelled' });
      await world.time.until(async () => (await world.outputs(id))['undo'] !== undefined, 1000);
      expect(await rowsOf(world, id)).toEqual(['undo hook 1']);
      expect(await world.view(id)).toMatchObject({ state: 'cancelled', dueAt: null });
    }
  });

  it('take a turn each where an invocation runs one step only, and no more than one claim each', async () => {
    const world = new TestEngine({ scripts, settings: { maxStepsPerTurn: 1 } });
    world.boot();
    const hooks = Array.from({ length: 25 }, (_, index) => step(`h${index}`, 'quick'));
    const id = await world.start(await world.publish([step('x', 'refused')], members(...hooks)));
    await world.time.until(async () => (await world.outputs(id))['h24'] !== undefined, 60_000);
    expect((await rowsOf(world, id)).slice(1)).toEqual(hooks.map(({ id: hook }) => `${String(hook)} hook 1`));
  });

  it('write what they set in the store of the instance, with their row [HOOK-3] [H-5]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const hooks = [
      step('put', 'set_state', { params: { key: 'told', value: { by: '{{data._error.source}}' } } }),
      step('got', 'get_state', { params: { key: 'told' } }),
      step('say', 'log', { params: { message: 'state {{state.told.by}}' } }),
    ];
    const id = await world.start(await world.publish([step('x', 'refused')], members(...hooks)));
    await world.time.until(async () => (await world.outputs(id))['say'] !== undefined, 10_000);
    expect(await world.outputs(id)).toMatchObject({
      got: { key: 'told', value: { by: 'instance' } },
      say: { message: 'state instance' },
    });
    expect(await world.store.listLogs(TENANT, id, 10)).toMatchObject([
      { blockId: 'say', message: 'state instance' },
    ]);
  });

  it('are passed over with a warning when they are no steps [HOOK-2]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(
      await world.publish(
        [step('x', 'refused')],
        members(parallel('p', [step('in', 'quick')]), step('a', 'quick')),
      ),
    );
    await world.time.until(async () => (await world.outputs(id))['a'] !== undefined, 10_000);
    expect(await world.store.listLogs(TENANT, id, 10)).toMatchObject([
      { blockId: 'p', level: 'warn', message: 'p is a parallel: only steps run as cleanup hooks' },
    ]);
  });
});

describe('alerts in the engine', () => {
  it('are one row, one webhook and one count, also for a run that rests [SLA-1] [SLA-3]', async () => {
    const world = new TestEngine({ scripts });
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
    expect(await world.store.listWebhookOutbox(TENANT, 10)).toMatchObject([
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
