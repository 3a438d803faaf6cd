import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { parallel, step } from './support/blocks.ts';
import { type Blocks, answer, finished, gate, moved, q, refused, waiting, world } from './support/moving.ts';
import { calledBlocks, treeOf, verified } from './support/reshaping.ts';

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
    expect(await verified(engine, id)).toEqual([]);
    await answer(engine, id);
    expect((await engine.untilEnded(id)).state).toBe('failed');
    expect(await verified(engine, id)).toEqual([]);
    expect(calledBlocks(engine, id)).toEqual(['a', 'g', 'n', 'x', 'cn', 'cg', 'ca']);
  });

  it('leaves rows that say which saga steps ran before a new one (RULINGS B2) [OP-14]', async () => {
    const engine = world();
    const id = await waiting(engine, [saga(['s1', q('a'), q('ca')], ['s2', gate('g')], ['s4', q('z')])]);
    await moved(engine, id, [
      saga(['s0', gate('m')], ['s1', q('a'), q('ca')], ['s2', gate('g')], ['s3', gate('n')], ['s4', q('z')]),
    ]);
    for (const block of ['g', 'm', 'n']) {
      expect(await verified(engine, id)).toEqual([]);
      await answer(engine, id, block);
      await engine.time.pass(1_000);
    }
    expect((await engine.untilEnded(id)).state).toBe('completed');
    expect(calledBlocks(engine, id)).toEqual(['a', 'g', 'm', 'n', 'z']);
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
