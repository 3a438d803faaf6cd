import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { parallel, step } from './support/blocks.ts';
import { calledBlocks, injected, migrate, migrated, preview, treeOf } from './support/reshaping.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

type Blocks = readonly JsonObject[];

const failure = { ok: false as const, failure: { message: 'broken', retryable: false } };

function world(): TestEngine {
  const engine = new TestEngine({
    scripts: {
      quick: {},
      slow: { takesMs: 500 },
      long: { takesMs: 60_000 },
      broken: { outcome: () => failure },
    },
  });
  engine.boot();
  return engine;
}

const gate = (id: string): JsonObject => step(id, 'quick', { wait_for_input: { prompt: 'May it?' } });
const q = (id: string): JsonObject => step(id, 'quick');

/** An instance of the first version that waits for somebody outside. */
async function waiting(engine: TestEngine, blocks: Blocks, data: Json = {}): Promise<string> {
  const id = await engine.start(await engine.publish(blocks), { data });
  await engine.untilState(id, 'waiting');
  return id;
}

const answer = (engine: TestEngine, id: string, block = 'g') =>
  engine.signal(id, `custom:human_input:${block}`, { value: 'yes' });

/** Moves a waiting run, checks that the preview foretold its tree, and answers its gate. */
async function moved(engine: TestEngine, id: string, blocks: Blocks): Promise<void> {
  const target = await engine.publish(blocks);
  await migrated(engine, id, target);
  expect((await engine.view(id)).sequenceId).toBe(target);
}

async function finished(engine: TestEngine, id: string): Promise<readonly string[]> {
  await answer(engine, id);
  expect((await engine.untilEnded(id)).state).toBe('completed');
  return calledBlocks(engine, id);
}

/** A refused move says why in preview and answer, and changes nothing. */
async function refused(engine: TestEngine, id: string, blocks: Blocks): Promise<string> {
  const target = await engine.publish(blocks);
  const before = [await engine.view(id), await treeOf(engine, id)];
  const told = await preview(engine, id, target);
  if (!told.ok) throw new Error(told.error.message);
  const reasons = told.value.preview.refusals.map(({ reason }) => reason);
  const answered = await migrate(engine, id, target);
  expect(answered).toMatchObject({ ok: false, error: { kind: 'conflict', code: 'cannot_migrate' } });
  expect([await engine.view(id), await treeOf(engine, id)]).toEqual(before);
  return reasons.join('; ');
}

describe('migration to another version (20.5)', () => {
  it('goes on with what stands there now, and repeats nothing [OP-13] [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [q('a'), gate('g'), q('c')]);
    await moved(engine, id, [q('a'), gate('g'), q('d')]);
    expect(await finished(engine, id)).toEqual(['a', 'g', 'd']);
  });

  it('runs new blocks before ended ones next, in document order, once what waits has ended [OP-14] [LIST-1]', async () => {
    const engine = world();
    const id = await waiting(engine, [q('a'), q('b'), gate('g'), q('c')]);
    await moved(engine, id, [q('n1'), q('a'), q('n2'), q('b'), gate('g'), q('c')]);
    expect(await treeOf(engine, id)).toMatchObject({
      n1: 'pending',
      a: 'completed',
      n2: 'pending',
      g: 'waiting:input',
    });
    expect(await finished(engine, id)).toEqual(['a', 'b', 'g', 'n1', 'n2', 'c']);
  });

  it('does so in every list of a nest [OP-14]', async () => {
    const engine = world();
    const nest = (...inner: Blocks): Blocks => [
      {
        type: 'cancellation_scope',
        id: 's',
        blocks: [{ type: 'try_catch', id: 't', try_block: inner, catch_block: [q('k')] }],
      },
    ];
    const id = await waiting(engine, nest(q('a'), gate('g')));
    await moved(engine, id, nest(q('n'), q('a'), gate('g')));
    expect(await finished(engine, id)).toEqual(['a', 'g', 'n']);
  });

  it('leaves a completed composite completed, whatever is new in it [OP-14]', async () => {
    const engine = world();
    const p = (...more: Blocks): JsonObject => parallel('p', [q('a')], [q('b'), ...more]);
    const id = await waiting(engine, [p(), gate('g')]);
    await moved(engine, id, [p(q('n')), gate('g')]);
    expect(await treeOf(engine, id)).toMatchObject({ p: 'completed', n: 'skipped' });
    expect(await finished(engine, id)).toEqual(['a', 'b', 'g']);
  });

  it('cancels what waits and has no counterpart, with its worker task [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [step('w', 'away'), q('z')]);
    const task = await engine.poll('away');
    await moved(engine, id, [q('n'), q('z')]);
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['n', 'z']);
    if (task === null) throw new Error('there is no task');
    expect(await engine.report(task, { ok: true, output: 'late' })).toBe('stale');
  });

  it('cancels the child of a removed sub_sequence [OP-14]', async () => {
    const engine = world();
    await engine.publish([gate('inner')], { name: 'child' });
    const id = await waiting(engine, [{ type: 'sub_sequence', id: 'sub', sequence_name: 'child' }, q('z')]);
    await moved(engine, id, [q('z')]);
    await engine.untilEnded(id);
    const [child] = (await engine.store.listChildren(TENANT, id)) ?? [];
    expect((await engine.untilEnded(child?.id ?? '')).state).toBe('cancelled');
  });

  it('takes a block of another type or parent for a new one [OP-14]', async () => {
    const engine = world();
    const scope = (...blocks: Blocks): JsonObject => ({ type: 'cancellation_scope', id: 's', blocks });
    const id = await waiting(engine, [q('a'), q('b'), gate('g')]);
    await moved(engine, id, [
      scope(q('a')),
      { type: 'loop', id: 'b', condition: 'false', body: [q('b2')] },
      gate('g'),
    ]);
    expect(await treeOf(engine, id)).toMatchObject({ s: 'pending', a: 'pending', b: 'pending' });
    expect(await finished(engine, id)).toEqual(['a', 'b', 'g', 'a']);
  });

  it('does not check the input schema of the target [OP-15]', async () => {
    const engine = world();
    const id = await waiting(engine, [gate('g')]);
    const target = await engine.publish([gate('g'), q('z')], {
      input_schema: { type: 'object', required: ['n'] },
    });
    await migrated(engine, id, target);
    expect(await finished(engine, id)).toEqual(['g', 'z']);
  });

  it('and back again begins what was removed in between anew [OP-14] [OUT-3]', async () => {
    const engine = world();
    const first = await engine.publish([q('a'), gate('g')]);
    const id = await engine.start(first);
    await engine.untilState(id, 'waiting');
    await moved(engine, id, [gate('g')]);
    await migrated(engine, id, first);
    expect(await treeOf(engine, id)).toEqual({ a: 'pending', g: 'waiting:input' });
    expect(await finished(engine, id)).toEqual(['a', 'g', 'a']);
  });

  it('writes a journal entry and no audit row (http-api.md 7)', async () => {
    const engine = world();
    const id = await waiting(engine, [gate('g')]);
    const audit = await engine.store.listAudit(TENANT, id, 100);
    await moved(engine, id, [gate('g'), q('z')]);
    expect(await engine.store.listAudit(TENANT, id, 100)).toEqual(audit);
    const kinds = engine.sentCommits(id).flatMap(({ journal }) => journal.map(({ kind }) => kind));
    expect(kinds).toEqual(['migrated']);
  });

  it('is refused for a run that has ended, and for a target that is not there [OP-13]', async () => {
    const engine = world();
    const sequence = await engine.publish([q('a')]);
    const id = await engine.start(sequence);
    await engine.untilEnded(id);
    expect(await migrate(engine, id, sequence)).toMatchObject({ error: { kind: 'invalid_argument' } });
    expect(await migrate(engine, id, engine.nextId())).toMatchObject({ error: { kind: 'not_found' } });
    expect(await migrate(engine, engine.nextId(), sequence)).toMatchObject({ error: { kind: 'not_found' } });
  });
});

describe('migration inside composites (20.5)', () => {
  const routes = (...list: readonly (readonly [condition: string, ...blocks: Blocks])[]): JsonObject => ({
    type: 'router',
    id: 'r',
    routes: list.map(([condition, ...blocks]) => ({ condition, blocks })),
  });

  it('finds the chosen route where its blocks are [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [routes(['false', q('x')], ['true', q('a'), gate('g')])]);
    await moved(engine, id, [routes(['true', q('y')], ['data.n == 1', q('n'), gate('g'), q('a')])]);
    expect(await treeOf(engine, id)).toMatchObject({
      y: 'skipped',
      n: 'pending',
      g: 'waiting:input',
      a: 'completed',
    });
    expect(await finished(engine, id)).toEqual(['a', 'g', 'n']);
  });

  it('finds a chosen route without any of its blocks by its condition [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [routes(['false', q('x')], ['true', gate('g')])]);
    await moved(engine, id, [routes(['true', q('n')], ['false', q('x')])]);
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['n']);
  });

  it('is refused when the chosen list is not there, or is spread over several', async () => {
    const engine = world();
    const id = await waiting(engine, [routes(['false', q('x')], ['true', q('a'), gate('g')])]);
    expect(await refused(engine, id, [routes(['false', q('x')])])).toContain('chosen');
    expect(await refused(engine, id, [routes(['false', q('a')], ['true', gate('g')])])).toContain('chosen');
  });

  it('finds the variant of a split by its blocks, and then by its name [OP-14]', async () => {
    const engine = world();
    const split = (...variants: readonly (readonly [string, ...Blocks])[]): JsonObject => ({
      type: 'a_b_split',
      id: 'ab',
      variants: variants.map(([name, ...blocks], index) => ({ name, weight: index, blocks })),
    });
    const id = await waiting(engine, [split(['one', q('x')], ['two', gate('g')])]);
    await moved(engine, id, [split(['three', q('n'), gate('g')], ['two', q('y')])]);
    await moved(engine, id, [split(['four', q('y')], ['three', q('n')], ['five', q('v')])]);
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['n']);
  });

  it('keeps branches apart from their places, and lets new ones begin [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [parallel('p', [q('a'), gate('g')], [q('b')]), q('z')]);
    await moved(engine, id, [parallel('p', [q('n')], [q('b'), q('m')], [q('a'), gate('g'), q('c')]), q('z')]);
    await engine.time.pass(1_000);
    expect(await treeOf(engine, id)).toMatchObject({
      n: 'completed',
      m: 'completed',
      g: 'waiting:input',
      c: 'pending',
    });
    expect(await finished(engine, id)).toEqual(['a', 'b', 'n', 'm', 'g', 'c', 'z']);
  });

  it('is refused when two blocks that wait would come into one list', async () => {
    const engine = world();
    const id = await waiting(engine, [parallel('p', [gate('g')], [gate('h')])]);
    expect(await refused(engine, id, [parallel('p', [gate('g'), gate('h')], [q('n')])])).toContain(
      'one list',
    );
  });

  it('lets a race be won by a branch whose waiting block is gone [OP-14]', async () => {
    const engine = world();
    const race = (...branches: readonly Blocks[]): JsonObject => ({ type: 'race', id: 'r', branches });
    const id = await waiting(engine, [race([q('a'), gate('g')], [gate('h')]), q('z')]);
    await moved(engine, id, [race([q('a')], [gate('h')]), q('z')]);
    expect((await engine.untilEnded(id)).state).toBe('completed');
    expect(await treeOf(engine, id)).toMatchObject({ r: 'completed', h: 'cancelled', z: 'completed' });
  });

  it('goes on in the phase of a try_catch, and is refused when what has run would stand in another one', async () => {
    const engine = world();
    const lists = (tries: Blocks, catches: Blocks, finals: Blocks): JsonObject => ({
      type: 'try_catch',
      id: 't',
      try_block: tries,
      catch_block: catches,
      finally_block: finals,
    });
    const id = await waiting(engine, [lists([q('a'), step('x', 'broken')], [q('b'), gate('g')], [q('f')])]);
    expect(
      await refused(engine, id, [lists([step('x', 'broken')], [gate('g')], [q('a'), q('f')])]),
    ).toContain('a has begun');
    expect(await refused(engine, id, [lists([q('a'), gate('g')], [q('b')], [q('f')])])).toContain(
      'g has begun',
    );
    await moved(engine, id, [lists([q('a'), q('n')], [q('m'), q('b'), gate('g')], [q('f'), q('h')])]);
    expect(await finished(engine, id)).toEqual(['a', 'x', 'b', 'g', 'm', 'f', 'h']);
  });

  it('goes on in the pass of a loop, and the next pass is the new body from its start [OP-14]', async () => {
    const engine = world();
    const loop = (max: number, ...body: Blocks): JsonObject => ({
      type: 'loop',
      id: 'l',
      condition: 'true',
      max_iterations: max,
      body,
    });
    const id = await waiting(engine, [loop(2, q('a'), gate('g'))]);
    await moved(engine, id, [loop(2, q('n'), q('a'), gate('g'), q('c'))]);
    await answer(engine, id);
    await engine.untilState(id, 'waiting');
    expect(await finished(engine, id)).toEqual([
      'a@l:0',
      'g@l:0',
      'n@l:0',
      'c@l:0',
      'n@l:1',
      'a@l:1',
      'g@l:1',
      'c@l:1',
    ]);
  });

  it('goes on in the items of a for_each, side by side or not [OP-14]', async () => {
    for (const concurrency of [1, 2]) {
      const engine = world();
      const each = (...body: Blocks): JsonObject => ({
        type: 'for_each',
        id: 'e',
        collection: 'items',
        item_var: 'i',
        concurrency,
        body,
      });
      const id = await waiting(engine, [each(q('a'), step('w', 'away'))], { items: [1, 2] });
      await moved(engine, id, [each(q('n'), q('a'), step('w', 'away'))]);
      for (let passed = 0; passed < 20; passed += 1) {
        await engine.time.pass(250);
        const task = await engine.poll('away');
        if (task !== null) await engine.report(task, { ok: true, output: 1 });
      }
      expect((await engine.untilEnded(id)).state).toBe('completed');
      const called = calledBlocks(engine, id);
      expect(called.filter((name) => name.startsWith('a@'))).toEqual(['a@e:0', 'a@e:1']);
      expect(called.filter((name) => name.startsWith('n@'))).toEqual(['n@e:0', 'n@e:1']);
    }
  });

  it('does not change how the items of an open for_each run', async () => {
    const engine = world();
    const each = (concurrency: number): JsonObject => ({
      type: 'for_each',
      id: 'e',
      collection: 'items',
      item_var: 'i',
      concurrency,
      body: [gate('g')],
    });
    const id = await waiting(engine, [each(1)], { items: [1, 2] });
    expect(await refused(engine, id, [each(2)])).toContain('another way');
  });

  const saga = (...steps: readonly (readonly [string, JsonObject, JsonObject?])[]): JsonObject => ({
    type: 'saga',
    id: 's',
    steps: steps.map(([id, action, compensation]) => ({
      id,
      action,
      ...(compensation === undefined ? {} : { compensation }),
    })),
  });

  it('runs a new saga step before ended ones next, and undoes all of them in the order of their ends [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [
      saga(['s1', q('a'), q('ca')], ['s2', gate('g'), q('cg')], ['s3', step('x', 'broken')]),
    ]);
    await moved(engine, id, [
      saga(
        ['s0', q('n'), q('cn')],
        ['s1', q('a'), q('ca')],
        ['s2', gate('g'), q('cg')],
        ['s3', step('x', 'broken')],
      ),
    ]);
    await answer(engine, id);
    expect((await engine.untilEnded(id)).state).toBe('failed');
    expect(calledBlocks(engine, id)).toEqual(['a', 'g', 'n', 'x', 'cn', 'cg', 'ca']);
  });

  it('is refused when a completed saga step, or how to undo it, is not in the target', async () => {
    const engine = world();
    const id = await waiting(engine, [saga(['s1', q('a'), q('ca')], ['s2', gate('g')])]);
    expect(await refused(engine, id, [saga(['s2', gate('g')])])).toContain('not in the target');
    expect(await refused(engine, id, [saga(['s1', q('a')], ['s2', gate('g')])])).toContain('cannot undo');
    expect(await refused(engine, id, [saga(['s1', q('b'), q('a')], ['s2', gate('g')])])).toContain('s1');
  });

  it('is refused while a compensation is at work that the target does not have', async () => {
    const engine = world();
    const id = await waiting(engine, [saga(['s1', q('a'), gate('g')], ['s2', step('x', 'broken')])]);
    expect(
      await refused(engine, id, [saga(['s1', q('a'), q('other')], ['s2', step('x', 'broken')])]),
    ).toContain('in another way');
    await moved(engine, id, [
      saga(['s0', q('n'), q('cn')], ['s1', q('a'), gate('g')], ['s2', step('x', 'broken')]),
    ]);
    await answer(engine, id);
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['a', 'x', 'g']);
  });
});

describe('migration and injected blocks (20.4, 20.5)', () => {
  it('carries injected blocks along, beside the blocks that they stood beside [OP-10] [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [q('a'), gate('g'), q('c')]);
    await injected(engine, id, [q('x')], 2);
    await injected(engine, id, [q('y')]);
    await moved(engine, id, [q('n'), q('a'), gate('g'), q('b'), q('c')]);
    expect(Object.keys(await treeOf(engine, id))).toEqual(['n', 'a', 'g', 'b', 'x', 'c', 'y']);
    expect(await finished(engine, id)).toEqual(['a', 'g', 'n', 'b', 'x', 'c', 'y']);
  });

  it('lets an injected block give way to one of the target with its id, and keeps its state [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [gate('g'), q('z')]);
    await injected(engine, id, [q('x')], 1);
    await injected(engine, id, [gate('h')], 2);
    await answer(engine, id);
    await engine.untilState(id, 'waiting');
    const target = await engine.publish([gate('g'), q('x'), q('z')]);
    const told = await preview(engine, id, target);
    expect(told).toMatchObject({ value: { preview: { injected: { carried: ['h'], replaced: ['x'] } } } });
    await migrated(engine, id, target);
    expect((await engine.view(id)).injected?.map((block) => block['id'])).toEqual(['h']);
    expect(await treeOf(engine, id)).toEqual({
      g: 'completed',
      x: 'completed',
      h: 'waiting:input',
      z: 'pending',
    });
    await answer(engine, id, 'h');
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['g', 'x', 'h', 'z']);
  });
});

describe('migration of a run that is at work (RULINGS A6)', () => {
  it('waits until the handlers that run have ended, and begins nothing before it [OP-14]', async () => {
    const engine = world();
    const blocks = [parallel('p', [step('a', 'long'), q('b')], [step('c', 'slow'), q('d')]), q('z')];
    const id = await engine.start(await engine.publish(blocks));
    await engine.time.pass(250);
    const target = await engine.publish([
      parallel('p', [step('a', 'long'), q('n')], [step('c', 'slow'), q('m')]),
      q('z'),
    ]);
    expect(await migrated(engine, id, target)).toMatchObject({ isApplied: false });
    await engine.time.pass(10_000);
    expect(calledBlocks(engine, id)).toEqual(['a', 'c']);
    const another = await migrate(engine, id, target);
    expect(another).toMatchObject({ error: { kind: 'conflict', code: 'instance_busy' } });
    await engine.untilEnded(id);
    expect(calledBlocks(engine, id)).toEqual(['a', 'c', 'n', 'm', 'z']);
    expect((await engine.view(id)).sequenceId).toBe(target);
  });

  it('does not hold up a cancel, which it then comes too late for (RULINGS A12)', async () => {
    const engine = world();
    const id = await engine.start(await engine.publish([step('a', 'long'), q('b')]));
    await engine.time.pass(250);
    const target = await engine.publish([step('a', 'long'), q('n')]);
    await migrated(engine, id, target);
    await engine.signal(id, 'cancel');
    expect((await engine.untilEnded(id, 10_000)).state).toBe('cancelled');
  });

  it('is refused with its reason when the run has gone where it has no place any more', async () => {
    const engine = world();
    const never = step('never', 'quick', { when: 'false' });
    const lists = (tries: Blocks, finals: Blocks): Blocks => [
      parallel(
        'p',
        [step('a', 'long')],
        [{ type: 'try_catch', id: 't', try_block: tries, catch_block: [q('k')], finally_block: finals }],
      ),
    ];
    const first = await engine.publish(lists([step('b', 'slow'), never, q('c')], [q('f')]));
    const id = await engine.start(first);
    await engine.time.pass(250);
    const target = await engine.publish(lists([step('b', 'slow')], [never, q('f')]));
    expect(await migrated(engine, id, target)).toMatchObject({ isApplied: false });
    expect((await engine.untilEnded(id)).state).toBe('completed');
    expect(calledBlocks(engine, id)).toEqual(['a', 'b', 'c', 'f']);
    const [change] = await engine.store.listShapeChanges({ tenantId: TENANT, instanceId: id });
    expect(change?.refused).toContain('never has begun in another list');
    expect(await engine.view(id)).toMatchObject({ sequenceId: first, shape: { accepted: 1, applied: 1 } });
    const kinds = engine.sentCommits(id).flatMap(({ journal }) => journal.map(({ kind }) => kind));
    expect(kinds).toContain('migration_refused');
  });

  it('two at once both take effect, one after the other', async () => {
    const engine = world();
    const id = await waiting(engine, [gate('g')]);
    const targets = await Promise.all([
      engine.publish([gate('g'), q('x')]),
      engine.publish([gate('g'), q('y')]),
    ]);
    const answers = await Promise.all(targets.map((target) => migrate(engine, id, target)));
    expect(answers.map(({ ok }) => ok)).toEqual([true, true]);
    expect(targets).toContain((await engine.view(id)).sequenceId);
    expect((await finished(engine, id)).length).toBe(2);
  });
});

describe('the preview of a migration (20.5)', () => {
  it('says of each block what becomes of it and why, and changes nothing', async () => {
    const engine = world();
    const id = await waiting(engine, [q('a'), parallel('p', [step('w', 'away')], [gate('g')]), q('c')]);
    const target = await engine.publish([
      q('n'),
      parallel('p', [gate('g')]),
      q('a'),
      parallel('c', [q('c1')]),
    ]);
    const before = await engine.view(id);
    const told = await preview(engine, id, target);
    if (!told.ok) throw new Error(told.error.message);
    const { kept, dropped, added, refusals } = told.value.preview;
    expect(refusals).toEqual([]);
    expect(kept.map(({ blockId, state }) => [blockId, state])).toEqual([
      ['a', 'completed'],
      ['p', 'running'],
      ['g', 'waiting'],
    ]);
    expect(dropped).toEqual([
      {
        blockId: 'w',
        blockType: 'step',
        state: 'waiting',
        reason: 'not in the target',
        cancels: 'worker_task',
      },
      {
        blockId: 'c',
        blockType: 'step',
        state: 'pending',
        reason: 'a parallel in the target',
        cancels: null,
      },
    ]);
    expect(added.map(({ blockId, state }) => [blockId, state])).toEqual([
      ['n', 'pending'],
      ['c', 'pending'],
      ['c1', 'pending'],
    ]);
    expect(await engine.view(id)).toEqual(before);
  });
});
