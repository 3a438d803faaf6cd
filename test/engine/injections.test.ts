import { describe, expect, it } from 'vitest';
import { step } from './support/blocks.ts';
import { calledBlocks, inject, injected, treeOf, verified } from './support/reshaping.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

function world(): TestEngine {
  const engine = new TestEngine({
    scripts: { quick: {}, slow: { takesMs: 500 }, broken: { outcome: () => failure } },
  });
  engine.boot();
  return engine;
}

const failure = { ok: false as const, failure: { message: 'broken', retryable: false } };
const gate = (id: string) => step(id, 'quick', { wait_for_input: { prompt: 'May it?' } });

async function resumed(engine: TestEngine, instanceId: string, blockId: string): Promise<void> {
  const order = { blockId, iteration: null, data: {}, edit: null, signals: [] };
  const resume = engine.live?.engine.runner.resume({ tenantId: TENANT, instanceId }, order);
  expect(resume === undefined ? null : await engine.answered(resume)).toMatchObject({ status: 'resumed' });
}

/** An instance that waits at the gate of its second step. */
async function waiting(engine: TestEngine): Promise<string> {
  const id = await engine.start(await engine.publish([step('a', 'quick'), gate('b'), step('c', 'quick')]));
  await engine.untilState(id, 'waiting');
  return id;
}

const answer = (engine: TestEngine, id: string) =>
  engine.signal(id, 'custom:human_input:b', { value: 'yes' });

describe('injected blocks (20.4)', () => {
  it('run at the end without a position, after everything else [OP-9] [OP-10]', async () => {
    const engine = world();
    const id = await waiting(engine);
    const done = await injected(engine, id, [step('x', 'quick'), step('y', 'quick')]);
    expect(done).toEqual({ blockIds: ['x', 'y'], position: null, total: 2 });
    await answer(engine, id);
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['a', 'b', 'c', 'x', 'y']);
  });

  it('run next when they come to stand before what is over [OP-10] [LIST-1]', async () => {
    const engine = world();
    const id = await waiting(engine);
    await injected(engine, id, [step('x', 'quick')], 0);
    expect(await treeOf(engine, id)).toEqual({
      x: 'pending',
      a: 'completed',
      b: 'waiting:input',
      c: 'pending',
    });
    await answer(engine, id);
    const view = await engine.untilEnded(id);
    expect(view.state).toBe('completed');
    expect(calledBlocks(engine, id)).toEqual(['a', 'b', 'x', 'c']);
  });

  it('are taken up by a running turn between two steps [OP-9]', async () => {
    const engine = world();
    const id = await engine.start(await engine.publish([step('a', 'slow'), step('b', 'slow')]));
    await engine.time.pass(250);
    await injected(engine, id, [step('x', 'quick')], 1);
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['a', 'x', 'b']);
    expect(engine.ledger.of('a')).toHaveLength(1);
  });

  it('keep the run going when its last step is being called [OP-9]', async () => {
    const engine = world();
    const id = await engine.start(await engine.publish([step('a', 'slow')]));
    await engine.time.pass(250);
    await injected(engine, id, [step('x', 'quick')]);
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['a', 'x']);
  });

  it('are stored by an instance that has failed, and run before the failed step after a retry [OP-11]', async () => {
    const engine = world();
    const id = await engine.start(
      await engine.publish([step('a', 'quick'), step('b', 'broken'), step('c', 'quick')]),
    );
    await engine.untilEnded(id);
    await injected(engine, id, [step('fix', 'quick')], 1);
    expect(await treeOf(engine, id)).toEqual({ a: 'completed', b: 'failed', c: 'skipped' });
    engine.scripts['broken'] = {};
    await engine.answered(engine.operate(id, { kind: 'retry' }));
    const view = await engine.untilEnded(id);
    expect(view.state).toBe('failed');
    expect(calledBlocks(engine, id)).toEqual(['a', 'b', 'fix', 'b']);
  });

  it('run first when an ended run goes back to a block behind them, which then runs with all after it [OP-6] [OP-11]', async () => {
    for (const [position, blockId, calls] of [
      [0, 'a', ['x', 'a', 'b', 'c']],
      [0, 'b', ['x', 'b', 'c']],
      [0, 'c', ['x', 'c']],
      [1, 'b', ['x', 'b', 'c']],
      [2, 'b', ['b', 'x', 'c']],
    ] as const) {
      const engine = world();
      const blocks = [step('a', 'quick'), step('b', 'quick'), step('c', 'quick')];
      const id = await engine.start(await engine.publish(blocks));
      await engine.untilEnded(id);
      await injected(engine, id, [step('x', 'quick')], position);
      const before = calledBlocks(engine, id).length;
      await resumed(engine, id, blockId);
      expect((await engine.untilEnded(id)).state).toBe('completed');
      expect(calledBlocks(engine, id).slice(before)).toEqual(calls);
      expect(new Set(Object.values(await treeOf(engine, id)))).toEqual(new Set(['completed']));
      expect(await verified(engine, id)).toEqual([]);
    }
  });

  it('run all, and everything that stands behind them again, when an ended run goes back to one of them [OP-6] [OP-11]', async () => {
    const engine = world();
    const id = await engine.start(await engine.publish([step('a', 'quick'), step('b', 'quick')]));
    await engine.untilEnded(id);
    await injected(engine, id, [step('x', 'quick')], 0);
    await injected(engine, id, [step('y', 'quick')], 0);
    await resumed(engine, id, 'x');
    expect((await engine.untilEnded(id)).state).toBe('completed');
    expect(calledBlocks(engine, id)).toEqual(['a', 'b', 'y', 'x', 'a', 'b']);
    expect(await verified(engine, id)).toEqual([]);
  });

  it('run, and what failed is passed over, when a failed run goes back to a block further on [OP-6] [OP-11]', async () => {
    const engine = world();
    const blocks = [step('a', 'quick'), step('b', 'broken'), step('c', 'quick'), step('d', 'quick')];
    const id = await engine.start(await engine.publish(blocks));
    await engine.untilEnded(id);
    await injected(engine, id, [step('x', 'quick')], 0);
    await resumed(engine, id, 'd');
    expect((await engine.untilEnded(id)).state).toBe('completed');
    expect(calledBlocks(engine, id)).toEqual(['a', 'b', 'x', 'd']);
    expect(await treeOf(engine, id)).toMatchObject({
      a: 'completed',
      b: 'failed',
      c: 'skipped',
      x: 'completed',
    });
    expect(await verified(engine, id)).toEqual([]);
  });

  it('run when a paused run goes back to a block that it had done before they came [OP-6] [OP-10]', async () => {
    const engine = world();
    const asleep = step('s', 'sleep', { params: { duration_ms: 60_000 } });
    const id = await engine.start(await engine.publish([step('a', 'quick'), step('b', 'quick'), asleep]));
    await engine.time.calm();
    await engine.signal(id, 'pause');
    await engine.untilState(id, 'paused');
    await injected(engine, id, [step('x', 'quick')], 0);
    await resumed(engine, id, 'b');
    expect((await engine.untilEnded(id)).state).toBe('completed');
    expect(calledBlocks(engine, id)).toEqual(['a', 'b', 'x', 'b']);
    expect(await verified(engine, id)).toEqual([]);
  });

  it('are shown in the metadata in the order of injection [OP-10]', async () => {
    const engine = world();
    const id = await waiting(engine);
    await injected(engine, id, [step('x', 'quick')]);
    await injected(engine, id, [step('y', 'quick')], 0);
    const { injected: shown } = await engine.view(id);
    expect(shown?.map((block) => block['id'])).toEqual(['x', 'y']);
  });

  it('must not use the id of any block of the run, injected ones included [OP-9]', async () => {
    const engine = world();
    const id = await waiting(engine);
    await injected(engine, id, [step('x', 'quick')]);
    for (const taken of ['a', 'x']) {
      const refused = await inject(engine, id, [step(taken, 'quick')]);
      expect(refused).toMatchObject({ ok: false, error: { kind: 'invalid_argument' } });
    }
    expect(await engine.store.listShapeChanges({ tenantId: TENANT, instanceId: id })).toHaveLength(1);
  });
});
