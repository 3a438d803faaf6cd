import { describe, expect, it } from 'vitest';
import { childLists, documentLists, walkBlocks } from '../../src/core/definition/walk.ts';
import { formatPath } from '../../src/core/definition/path.ts';
import { accepted, documentOf, step } from './documents.ts';

const everything = accepted(
  documentOf(
    [
      { type: 'parallel', id: 'par', branches: [[step('p0')], [], [step('p2')]] },
      { type: 'race', id: 'race', branches: [[step('r0')]] },
      {
        type: 'router',
        id: 'router',
        routes: [{ condition: 'x', blocks: [step('q0')] }],
        default: [step('q1')],
      },
      {
        type: 'try_catch',
        id: 'try',
        try_block: [step('t')],
        catch_block: [step('c')],
        finally_block: [step('f')],
      },
      { type: 'try_catch', id: 'try2', try_block: [step('t2')], catch_block: [] },
      { type: 'loop', id: 'loop', condition: 'x', body: [step('l')] },
      { type: 'for_each', id: 'each', collection: 'rows', body: [step('e')] },
      { type: 'sub_sequence', id: 'sub', sequence_name: 'x' },
      {
        type: 'a_b_split',
        id: 'ab',
        variants: [
          { name: 'a', weight: 1, blocks: [step('v0')] },
          { name: 'b', weight: 1, blocks: [step('v1')] },
        ],
      },
      { type: 'cancellation_scope', id: 'scope', blocks: [step('s')] },
      {
        type: 'saga',
        id: 'saga',
        steps: [
          { id: 'g0', action: step('g0a'), compensation: step('g0c') },
          { id: 'g1', action: { type: 'loop', id: 'g1a', condition: 'x', body: [step('deep')] } },
        ],
      },
    ],
    { on_failure: [step('hook')] },
  ),
);

describe('walking a document', () => {
  it('[TREE-1] visits every kind of list in document order, a composite before its children', () => {
    expect([...walkBlocks(everything.blocks)].map(({ block }) => block.id).join(' ')).toBe(
      'par p0 p2 race r0 router q0 q1 try t c f try2 t2 loop l each e sub ab v0 v1 scope s saga g0a g0c g1a deep',
    );
  });

  it('gives paths that lead to the blocks', () => {
    const paths = new Map(
      [...walkBlocks(everything.blocks)].map(({ block, path }) => [block.id, formatPath(path)]),
    );
    expect(paths.get('p2')).toBe('blocks[0].branches[2][0]');
    expect(paths.get('q1')).toBe('blocks[2].default[0]');
    expect(paths.get('f')).toBe('blocks[3].finally_block[0]');
    expect(paths.get('v1')).toBe('blocks[8].variants[1].blocks[0]');
    expect(paths.get('g0c')).toBe('blocks[10].steps[0].compensation');
    expect(paths.get('deep')).toBe('blocks[10].steps[1].action.body[0]');
  });

  it('gives depth, position and parent', () => {
    const deep = [...walkBlocks(everything.blocks)].find(({ block }) => block.id === 'deep');
    expect(deep).toMatchObject({ depth: 2, position: 0 });
    expect(deep?.parent?.block.id).toBe('g1a');
    expect(deep?.parent?.parent?.block.id).toBe('saga');
    expect(deep?.parent?.parent?.parent).toBeNull();
  });

  it('numbers the lists as branch_index does (7.2)', () => {
    const indexes = Object.fromEntries(
      everything.blocks.map((block) => [block.id, childLists(block).map(({ branchIndex }) => branchIndex)]),
    );
    expect(indexes).toEqual({
      par: [0, 1, 2],
      race: [0],
      router: [0, 1],
      try: [0, 1, 2],
      try2: [0, 1],
      loop: [null],
      each: [null],
      sub: [],
      ab: [0, 1],
      scope: [null],
      saga: [0, 1, 2],
    });
  });

  it('lists the main tree and the cleanup lists', () => {
    expect(documentLists(everything).map(({ name, blocks }) => [name, blocks.length])).toEqual([
      ['blocks', 11],
      ['on_failure', 1],
      ['on_cancel', 0],
    ]);
  });
});
