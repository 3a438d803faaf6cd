import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { explainInstance } from '../../src/engine/explain-instance.ts';
import { createRequestRunner } from '../../src/engine/request-runner.ts';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { parallel, sleepStep, step } from './support/blocks.ts';
import { LEASE_MS, standardSettings } from './support/engine-process.ts';
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
    // In company, beside one other suspect, and alone, which is what counts.
    expect(world.ledger.of('bad')).toHaveLength(2 + 3);
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
    const ids = Array.from({ length: 25 }, (_, index) => `h${index}`);
    const hooks = ids.map((hook) => step(hook, 'quick'));
    const id = await world.start(await world.publish([step('x', 'refused')], members(...hooks)));
    await world.time.until(async () => (await world.outputs(id))['h24'] !== undefined, 60_000);
    expect((await rowsOf(world, id)).slice(1)).toEqual(ids.map((hook) => `${hook} hook 1`));
  });

  it('wait for a free slot of their process, in one claim, and are not given up meanwhile [HOOK-1]', async () => {
    const world = new TestEngine({
      scripts: { ...scripts, long: { takesMs: 300_000 } },
      settings: { maxConcurrentSteps: 1 },
    });
    world.boot();
    const hooks = { on_cancel: [step('undo', 'quick')] };
    const id = await world.start(await world.publish([sleepStep('n', 900_000)], hooks));
    const other = await world.start(await world.publish([step('l', 'long')]));
    await world.time.pass(1000);
    await world.signal(id, 'cancel');
    await world.untilState(id, 'cancelled', 1000);
    await world.time.pass(200_000);
    expect(world.ledger.of('undo')).toEqual([]);
    const { epoch } = await world.view(id);
    await world.untilEnded(other);
    await world.time.until(async () => (await world.outputs(id))['undo'] !== undefined, 1000);
    expect(await rowsOf(world, id)).toEqual(['undo hook 1']);
    expect((await world.view(id)).epoch).toBe(epoch);
  });

  it('are not used up by processes that look and may call nothing, and stay redeliveries [HOOK-4]', async () => {
    const world = new TestEngine({ scripts });
    const first = world.boot();
    const hooks = members(step('a', 'slow'));
    const id = await world.start(await world.publish([step('x', 'refused')], hooks));
    world.ledger.onCall = ({ blockId }) => {
      if (blockId === 'a' && first.gate.isAlive) first.crash();
    };
    await world.untilState(id, 'failed');
    await world.time.pass(LEASE_MS + 1000);
    const { deps } = world.idle().engine;
    const queue = { send: () => undefined, settled: () => Promise.resolve() };
    const settings = { ...standardSettings, leaseOwner: 'api' };
    const looking = createRequestRunner({ deps, queue, settings });
    for (let times = 0; times < 30; times += 1) {
      await world.answered(looking.nudge({ tenantId: TENANT, instanceId: id }));
    }
    world.boot();
    await world.time.until(async () => (await world.outputs(id))['a'] !== undefined, 30_000);
    expect(world.ledger.of('a').map(({ redelivery }) => redelivery)).toEqual([false, true]);
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
