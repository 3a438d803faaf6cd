import { describe, expect, it } from 'vitest';
import { parallel, pure, router, step, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { cancelAt, fails, ok } from './support/script.ts';

describe('lists and the root list', () => {
  it('runs one block after the other [LIST-1] [LIST-2] [OUT-3] [ROOT-1] [OUT-2]', async () => {
    const run = await play({ blocks: [step('a'), pure('b'), step('c')] });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a', 'b', 'c']);
    expect(run.outputs).toEqual(['a={"from":"a"}', 'b={"from":"b"}', 'c={"from":"c"}']);
    expect(run.tree).toEqual({ a: 'completed', b: 'completed', c: 'completed' });
  });

  it('leaves what stands behind the cursor pending [LIST-1]', async () => {
    const run = await play({
      blocks: [step('a', { delay: { duration: 5000 } }), step('b')],
      untilMs: 100,
    });
    expect(run.state).toBe('scheduled');
    expect(run.tree).toEqual({ a: 'waiting:delay', b: 'pending' });
  });

  it('goes on after a skipped block [LIST-2] [WHEN-2]', async () => {
    const run = await play({ blocks: [step('a', { when: 'data.x == 1' }), step('b')] });
    expect(run.tree).toEqual({ a: 'skipped', b: 'completed' });
    expect(run.outputs).toEqual(['b={"from":"b"}']);
  });

  it('skips the rest of a list whose block failed [LIST-3] [LIST-6] [ROOT-2]', async () => {
    const run = await play({
      blocks: [step('a'), step('b'), parallel('p', [[step('c')], [step('d')]])],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('failed');
    expect(run.tree).toEqual({ a: 'failed', b: 'skipped', p: 'skipped', c: 'skipped', d: 'skipped' });
  });

  it('cancels the rest of a list whose block was cancelled [LIST-4]', async () => {
    const run = await play({
      blocks: [step('a', { delay: { duration: 9000 } }), router('r', [['true', [step('b')]]]), step('c')],
      events: [cancelAt(500)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.tree).toEqual({ a: 'cancelled', r: 'cancelled', b: 'cancelled', c: 'cancelled' });
  });

  it('counts an empty list as drained at once [LIST-5] [PAR-4]', async () => {
    const run = await play({ blocks: [parallel('p', [[], []]), step('z')] });
    expect(run.tree).toEqual({ p: 'completed', z: 'completed' });
  });

  it('moves a failure up until something absorbs it [NEST-1]', async () => {
    const run = await play({
      blocks: [
        tryCatch('t', [parallel('p', [[router('r', [['true', [step('a')]]])], [step('b')]]), step('x')], []),
        step('z'),
      ],
      on: { a: fails('no', { code: 'E1' }) },
    });
    expect(run.state).toBe('completed');
    expect(run.tree).toEqual({
      t: 'completed',
      p: 'failed',
      r: 'failed',
      a: 'failed',
      b: 'completed',
      x: 'skipped',
      z: 'completed',
    });
  });

  it('fails the instance when the root list failed although a cancel is pending [CAN-4] [7.6]', async () => {
    const run = await play({
      blocks: [step('a', { cancellable: false }), step('b')],
      on: { a: fails('no', { takesMs: 100 }) },
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('failed');
  });

  it('gives nodes ids of the shape of a v7 in document order with the list index of 7.2 [TREE-1] [TREE-2]', async () => {
    const run = await play({
      blocks: [
        parallel('p', [[step('a')], [step('b'), step('c')]]),
        router('r', [['false', [step('d')]]], [step('e')]),
        tryCatch('t', [step('f')], [step('g')], [step('h')]),
      ],
      on: { f: ok() },
    });
    const shown = run.nodes.map((node) => [
      node.blockId,
      node.branchIndex,
      node.position,
      node.parentId === null,
    ]);
    expect(shown).toEqual([
      ['p', null, 0, true],
      ['a', 0, 0, false],
      ['b', 1, 0, false],
      ['c', 1, 1, false],
      ['r', null, 1, true],
      ['d', 0, 0, false],
      ['e', 1, 0, false],
      ['t', null, 2, true],
      ['f', 0, 0, false],
      ['g', 1, 0, false],
      ['h', 2, 0, false],
    ]);
  });
});
