import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { parallel, step } from './support/blocks.ts';
import { faultAt } from './support/fault-plans.ts';
import { calledBlocks, injected, treeOf } from './support/reshaping.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

function world(): TestEngine {
  const engine = new TestEngine({ scripts: { quick: {}, slow: { takesMs: 500 } } });
  engine.boot();
  return engine;
}

const modify = (id: string, blocks: Json, position: Json = null): JsonObject =>
  step(id, 'self_modify', { params: { blocks, position } });

async function run(engine: TestEngine, blocks: Json, data: Json = {}): Promise<string> {
  const id = await engine.start(await engine.publish(blocks), { data });
  await engine.untilEnded(id);
  return id;
}

describe('self_modify (handlers.md 8.1)', () => {
  it('injects at the end of its own run and answers what it has injected [OP-12]', async () => {
    const engine = world();
    const late = step('late', 'quick');
    const id = await run(engine, [step('a', 'quick'), modify('m', [late])]);
    expect(calledBlocks(engine, id)).toEqual(['a', 'late']);
    const outputs = await engine.outputs(id);
    expect(outputs['m']).toEqual({ _self_modify: true, blocks: [late], position: null, injected_count: 1 });
    expect(outputs['late']).toEqual({ did: 'late', attempt: 0 });
  });

  it('injects before what has ended, and these blocks are the next to run [OP-10] [OP-12]', async () => {
    const engine = world();
    const id = await run(engine, [
      step('a', 'quick'),
      modify('m', [step('x', 'quick'), step('y', 'quick')], 0),
      step('b', 'quick'),
    ]);
    expect(calledBlocks(engine, id)).toEqual(['a', 'x', 'y', 'b']);
    expect(Object.keys(await treeOf(engine, id))).toEqual(['x', 'y', 'a', 'm', 'b']);
  });

  it('may be called in the middle of a block, whose other branches go on', async () => {
    const engine = world();
    const id = await run(engine, [
      parallel(
        'p',
        [modify('m', [step('x', 'quick')], 0), step('p2', 'quick')],
        [step('q1', 'slow'), step('q2', 'quick')],
      ),
      step('z', 'quick'),
    ]);
    expect(calledBlocks(engine, id)).toEqual(['p2', 'q1', 'q2', 'x', 'z']);
  });

  it('lets injected steps read what ran before them, of the same turn too', async () => {
    const engine = world();
    const params = { of: { $raw: '{{outputs.s.value}}' } };
    const id = await run(engine, [
      step('s', 'set_state', { params: { key: 'k', value: 7 } }),
      modify('m', [step('x', 'quick', { params })]),
    ]);
    expect(engine.ledger.of('x', id)[0]?.params).toEqual({ of: 7 });
  });

  it('resolves templates in the blocks, and takes $raw over as it is', async () => {
    const engine = world();
    const inner = step('x', 'quick', {
      params: { now: '{{data.n}}', later: { $raw: '{{outputs.a.did}} {{data.n}}' } },
    });
    const id = await run(engine, [step('a', 'quick'), modify('m', [inner])], { n: 3 });
    expect(engine.ledger.of('x', id)[0]?.params).toEqual({ now: 3, later: 'a 3' });
    const [shown] = (await engine.view(id)).injected ?? [];
    expect(shown?.['params']).toEqual({ now: 3, later: '{{outputs.a.did}} {{data.n}}' });
  });

  it.each<[string, Json]>([
    ['no list', 'late'],
    ['an empty list', []],
    ['a block of no type', [{ id: 'x' }]],
    ['a broken limit', [{ type: 'parallel', id: 'x', branches: [] }]],
    ['an id of the sequence', [{ type: 'step', id: 'a', handler: 'quick' }]],
    ['an id twice', [step('x', 'quick'), step('x', 'quick')]],
  ])('fails for good with %s and injects nothing [OP-12]', async (_, blocks) => {
    const engine = world();
    const retry = { max_attempts: 3, initial_backoff: 0, max_backoff: 0 };
    const id = await run(engine, [
      step('a', 'quick'),
      step('m', 'self_modify', { params: { blocks, position: 0 }, retry }),
    ]);
    const view = await engine.view(id);
    expect(view).toMatchObject({
      state: 'failed',
      failure: { blockId: 'm', error: { code: 'INVALID_BLOCKS' } },
    });
    expect(await engine.store.listShapeChanges({ tenantId: TENANT, instanceId: id })).toEqual([]);
  });

  it('fails with INVALID_PARAMS for a position that is no index', async () => {
    const engine = world();
    const id = await run(engine, [modify('m', [step('x', 'quick')], -1)]);
    expect((await engine.view(id)).failure?.error['code']).toBe('INVALID_PARAMS');
  });

  it('injects nothing with a result that is not accepted: all or nothing [OP-12]', async () => {
    const engine = world();
    const params = { blocks: [step('x', 'quick')] };
    const id = await run(engine, [step('m', 'self_modify', { params, output_schema: { type: 'string' } })]);
    expect((await engine.view(id)).state).toBe('failed');
    expect(await engine.store.listShapeChanges({ tenantId: TENANT, instanceId: id })).toEqual([]);
  });

  it('checks the blocks in a dry run and injects none', async () => {
    const engine = world();
    const sequence = await engine.publish([modify('m', [step('x', 'quick')])]);
    const id = await engine.start(sequence, { dryRun: true });
    await engine.untilEnded(id);
    const outputs = await engine.outputs(id);
    expect(outputs['m']).toMatchObject({
      dry_run: true,
      handler: 'self_modify',
      would: { inject_count: 1, position: null },
      _self_modify: false,
      injected_count: 0,
      would_inject: 1,
    });
    expect(await treeOf(engine, id)).toEqual({ m: 'completed' });
    const broken = await engine.start(await engine.publish([modify('m', [step('m', 'quick')])]), {
      dryRun: true,
    });
    expect((await engine.untilEnded(broken)).state).toBe('failed');
  });

  it('is refused in a cleanup hook, after which nothing runs', async () => {
    const engine = world();
    const sequence = await engine.publish([step('a', 'fail', { params: { message: 'no' } })], {
      on_failure: [modify('m', [step('x', 'quick')])],
    });
    const id = await engine.start(sequence);
    await engine.untilEnded(id);
    await engine.time.pass(1_000);
    expect((await engine.outputs(id))['m']).toMatchObject({ __error__: true, code: 'INVALID_BLOCKS' });
    expect(await engine.store.listShapeChanges({ tenantId: TENANT, instanceId: id })).toEqual([]);
  });

  it('two at the same instant, and one from outside, are all injected, each once [OP-12]', async () => {
    const engine = world();
    const id = await engine.start(
      await engine.publish([
        step('a', 'slow'),
        parallel('p', [modify('m', [step('x', 'quick')])], [modify('n', [step('y', 'quick')])]),
      ]),
    );
    await engine.time.pass(250);
    await injected(engine, id, [step('z', 'quick')]);
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id).toSorted()).toEqual(['a', 'x', 'y', 'z']);
    expect((await engine.view(id)).injected?.map((block) => block['id'])).toEqual(['z', 'x', 'y']);
  });

  it('in a loop injects once per pass, and never the same twice, whichever commit its process dies at', async () => {
    const calm = await looped(world());
    const commits = calm.engine.countCalls('commit');
    for (let nth = 0; nth < commits; nth += 1) {
      for (const kind of ['crash-before', 'crash-after'] as const) {
        const engine = world();
        const plan = faultAt('commit', nth, { kind });
        engine.faults = { ...plan, onCrash: () => engine.time.at(engine.time.now, () => void engine.boot()) };
        const { id } = await looped(engine);
        expect(await outputsOf(engine, id), `${kind} at commit ${nth}`).toEqual(
          await outputsOf(calm.engine, calm.id),
        );
      }
    }
  });
});

async function looped(engine: TestEngine): Promise<{ readonly engine: TestEngine; readonly id: string }> {
  const added = step('x{{data.n}}', 'quick');
  const id = await engine.start(
    await engine.publish([
      {
        type: 'for_each',
        id: 'each',
        collection: 'items',
        item_var: 'n',
        body: [modify('m', [added], 0), step('b', 'slow')],
      },
    ]),
    { data: { items: [1, 2, 3] } },
  );
  await engine.untilEnded(id, 3_600_000);
  return { engine, id };
}

/** Without the counter of the loop, which names the stored collection. */
async function outputsOf(engine: TestEngine, id: string): Promise<Readonly<Record<string, Json>>> {
  const { each: _, ...outputs } = await engine.outputs(id);
  return outputs;
}
