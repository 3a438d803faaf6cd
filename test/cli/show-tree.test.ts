import { describe, expect, it } from 'vitest';
import { drawTree, type TreeNode } from '../../src/cli/show/tree.ts';
import { createPalette, printable, wantsColour } from '../../src/cli/terminal.ts';

const plain = createPalette(false);

function node(id: string, parentId: string | null, more: Partial<TreeNode> = {}): TreeNode {
  return {
    id,
    instance_id: 'i',
    block_id: id,
    parent_id: parentId,
    block_type: 'step',
    branch_index: null,
    state: 'completed',
    started_at: '2027-01-01T00:00:00.000Z',
    completed_at: '2027-01-01T00:00:00.012Z',
    position: 0,
    reason: null,
    wake_at: null,
    attempt: 0,
    iteration: '',
    error: null,
    decision: null,
    ...more,
  };
}

describe('drawTree', () => {
  it('shows nesting, branches, states and durations in aligned columns', () => {
    const nodes = [
      node('first', null),
      node('both', null, { block_type: 'parallel' }),
      node('left', 'both', { branch_index: 0, attempt: 2 }),
      node('right', 'both', { branch_index: 1, state: 'waiting', reason: 'input', completed_at: null }),
      node('caught', null, { block_type: 'try_catch' }),
      node('risky', 'caught', {
        branch_index: 0,
        state: 'failed',
        error: { code: 'HTTP_ERROR', message: 'no' },
      }),
      node('mend', 'caught', { branch_index: 1, completed_at: '2027-01-01T00:00:02.500Z' }),
    ];
    expect(drawTree(nodes, plain).map((line) => line.trimEnd())).toEqual([
      '✔ first     step                        completed 12 ms',
      '✔ both      parallel                    completed 12 ms',
      '├─ ✔ left   step               branch 0 completed 12 ms try 3',
      '└─ ◷ right  step               branch 1 waiting for input',
      '✔ caught    try_catch                   completed 12 ms',
      '├─ ✖ risky  step               try      failed 12 ms HTTP_ERROR: no',
      '└─ ✔ mend   step               catch    completed 2.5 s',
    ]);
  });

  it('leaves out what lies inside a skipped block', () => {
    const nodes = [node('off', null, { state: 'skipped' }), node('inner', 'off', { state: 'skipped' })];
    expect(drawTree(nodes, plain)).toHaveLength(1);
  });

  it('draws nothing for no nodes', () => {
    expect(drawTree([], plain)).toEqual([]);
  });

  it('says why a step is tried again, in one short line', () => {
    const waiting = { state: 'waiting', reason: 'retry', completed_at: null, attempt: 1 } as const;
    const draw = (message: string): string =>
      drawTree([node('pay', null, { ...waiting, error: { message } })], plain).join('\n');
    expect(draw('503 from \u001B[2Jpay\n    at call')).toMatch(
      /waiting try 2 for retry after 503 from \\x1b\[2Jpay$/,
    );
    expect(draw('x'.repeat(5000)).length).toBeLessThan(300);
  });

  it('shows control characters of a document instead of sending them to the terminal', () => {
    const [line] = drawTree([node('a\u001B[2Jb', null)], plain);
    expect(line).toContain('a\\x1b[2Jb');
    expect(printable('one\ntwo\u009Bthree')).toBe('one two\\x9bthree');
  });
});

describe('colours', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('with %j on a terminal (%s): %s', (environment, isTTY, wanted) => {
    expect(wantsColour(environment, { isTTY })).toBe(wanted);
  });
});
