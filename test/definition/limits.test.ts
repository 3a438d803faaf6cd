import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { accepted, documentOf, refusal, refusalOf, step } from './documents.ts';

const loop = (members: JsonObject = {}): JsonObject => ({
  type: 'loop',
  id: 'l',
  condition: 'data.more',
  body: [step('a')],
  ...members,
});
const each = (members: JsonObject = {}): JsonObject => ({
  type: 'for_each',
  id: 'f',
  collection: 'rows',
  body: [step('a')],
  ...members,
});
const split = (variants: Json): JsonObject => ({ type: 'a_b_split', id: 's', variants });
const variant = (name: string, weight: number): JsonObject => ({ name, weight, blocks: [] });
const nested = (depth: number): JsonObject => {
  let block: JsonObject = step('leaf');
  for (let level = depth; level > 0; level -= 1) {
    block = { type: 'router', id: `r${level}`, routes: [{ condition: 'x', blocks: [block] }] };
  }
  return block;
};
const steps = (count: number): JsonObject[] => Array.from({ length: count }, (_, index) => step(`s${index}`));

describe('limits of the whole document', () => {
  it('[LIM-1] the root list has at least one block', () => {
    expect(refusalOf([])).toBe('400 blocks must contain at least one block (LIM-1) at blocks');
  });

  it('[LIM-2] a block at depth 64 is accepted and one at depth 65 refused', () => {
    expect(accepted(documentOf([nested(64)])).blocks).toHaveLength(1);
    expect(refusalOf([nested(65)])).toMatch(
      /^400 block 'leaf': blocks are nested more than 64 deep \(LIM-2\)/,
    );
  });

  it('[LIM-2] counts the depth through every kind of block', () => {
    let block: JsonObject = step('leaf');
    for (let level = 0; level < 65; level += 1) {
      block = { type: 'saga', id: `s${level}`, steps: [{ id: `x${level}`, action: block }] };
    }
    expect(refusalOf([block])).toContain('LIM-2');
  });

  it('[LIM-3] 5,000 blocks are accepted and 5,001 refused, cleanup lists included', () => {
    expect(accepted(documentOf(steps(5000))).blocks).toHaveLength(5000);
    expect(refusalOf(steps(5001))).toMatch(/^400 block 's5000': more than 5000 blocks \(LIM-3\)/);
    expect(refusalOf(steps(5000), { on_cancel: [step('x')] })).toContain('LIM-3');
  });

  it('[LIM-4] ids are not empty', () => {
    expect(refusalOf([step('')])).toContain('a block id must not be empty (LIM-4)');
  });

  it('[LIM-4] ids are unique over the whole main tree', () => {
    const router = { type: 'router', id: 'r', routes: [{ condition: 'x', blocks: [step('x')] }] };
    expect(refusalOf([step('x'), router])).toMatch(
      /^400 block 'x': duplicate block id 'x' \(LIM-4\) at blocks\[1\]\.routes\[0\]\.blocks\[0\]\.id$/,
    );
  });

  it('[LIM-4] ids of saga steps take part', () => {
    const saga = { type: 'saga', id: 's', steps: [{ id: 'x', action: step('y') }] };
    expect(refusalOf([step('x'), saga])).toContain("duplicate block id 'x'");
    expect(refusalOf([{ type: 'saga', id: 's', steps: [{ id: 's', action: step('y') }] }])).toContain(
      'duplicate',
    );
  });

  it('[LIM-4] each cleanup list has its own id space', () => {
    const cleanup = { on_failure: [step('x')], on_cancel: [step('x')] };
    expect(accepted(documentOf([step('x')], cleanup)).on_cancel).toHaveLength(1);
    expect(refusalOf([step('x')], { on_failure: [step('y'), step('y')] })).toContain(
      "duplicate block id 'y'",
    );
  });

  it('[LIM-4] ids named like members of every object are ordinary ids', () => {
    expect(
      accepted(documentOf([step('__proto__'), step('constructor'), step('toString')])).blocks,
    ).toHaveLength(3);
  });

  it('[VAL-5] ids have at most 512 bytes and no reserved prefix', () => {
    expect(accepted(documentOf([step('é'.repeat(256))])).blocks).toHaveLength(1);
    expect(refusalOf([step('é'.repeat(257))])).toContain('at most 512 bytes (VAL-5)');
    expect(refusalOf([step('_interceptor:x')])).toMatch(/^400 .*VAL-5/);
    expect(refusalOf([step('_sla:x')])).toMatch(/^400 .*VAL-5/);
  });

  it('[VAL-5] ids are compared without normalisation', () => {
    expect(accepted(documentOf([step('\u00e9'), step('e\u0301')])).blocks).toHaveLength(2);
  });

  it('[LIM-19] a document of more than 4 MiB is refused', () => {
    const filled = (size: number) => documentOf([step('a', { params: 'x'.repeat(size) })]);
    const around = JSON.stringify(filled(0)).length;
    const limit = 4 * 1024 * 1024;
    expect(accepted(filled(limit - around)).blocks).toHaveLength(1);
    expect(refusal(filled(limit - around + 1))).toMatchObject({ status: 400 });
    expect(refusal(filled(limit - around + 1)).message).toContain('LIM-19');
  });

  it('[PUB-3] labels are not blank and have at most 255 bytes', () => {
    expect(refusalOf([step('a')], { tenant_id: '  ' })).toMatch(/^400 tenant_id must not be blank/);
    expect(refusalOf([step('a')], { namespace: '' })).toMatch(/^400 namespace must not be blank/);
    expect(refusalOf([step('a')], { name: ' ' })).toMatch(/^400 name must not be blank/);
    expect(refusalOf([step('a')], { name: 'é'.repeat(128) })).toMatch(
      /^400 name must have at most 255 bytes/,
    );
    expect(accepted(documentOf([step('a')], { name: 'n'.repeat(255) })).name).toHaveLength(255);
  });

  it('[PUB-3] names the block and the rule, and lists every violation in document order', () => {
    const error = refusal(
      documentOf([loop({ max_iterations: 0, condition: '' }), step('a', { handler: '' })]),
    );
    expect(error.message).toBe("block 'l': condition must not be blank (LIM-7) at blocks[0].condition");
    expect(error.details).toEqual([
      { path: 'blocks[0].condition', rule: 'LIM-7', message: 'condition must not be blank', block_id: 'l' },
      {
        path: 'blocks[0].max_iterations',
        rule: 'LIM-7',
        message: 'max_iterations must be > 0',
        block_id: 'l',
      },
      { path: 'blocks[1].id', rule: 'LIM-4', message: "duplicate block id 'a'", block_id: 'a' },
      { path: 'blocks[1].handler', rule: 'LIM-5', message: 'handler must not be empty', block_id: 'a' },
    ]);
  });

  it('[PUB-3] lists at most 100 violations', () => {
    const blocks = Array.from({ length: 300 }, (_, index) => step(`s${index}`, { handler: '' }));
    expect(refusal(documentOf(blocks)).details).toHaveLength(100);
  });
});

describe('limits of composites', () => {
  it.each(['parallel', 'race'])('[LIM-6] a %s has 1 to 256 branches', (type) => {
    const of = (count: number) => [{ type, id: 'p', branches: Array.from({ length: count }, () => []) }];
    expect(refusalOf(of(0))).toContain('branches must be between 1 and 256, got 0 (LIM-6)');
    expect(refusalOf(of(257))).toContain('LIM-6');
    expect(accepted(documentOf(of(1))).blocks).toHaveLength(1);
    expect(accepted(documentOf(of(256))).blocks).toHaveLength(1);
  });

  it('[LIM-7] a loop has a condition, a body and 1 to 100,000 iterations', () => {
    expect(refusalOf([loop({ condition: ' \t' })])).toContain('condition must not be blank (LIM-7)');
    expect(refusalOf([loop({ body: [] })])).toContain('body must not be empty (LIM-7)');
    expect(refusalOf([loop({ max_iterations: 0 })])).toContain('max_iterations must be > 0 (LIM-7)');
    expect(refusalOf([loop({ max_iterations: -1 })])).toContain('max_iterations must be > 0');
    expect(refusalOf([loop({ max_iterations: 100_001 })])).toContain('max_iterations must be at most 100000');
    expect(refusalOf([loop({ max_iterations: 1.5 })])).toMatch(/^422 /);
    for (const max_iterations of [1, 100_000]) {
      expect(accepted(documentOf([loop({ max_iterations })])).blocks[0]).toMatchObject({ max_iterations });
    }
  });

  it('[LIM-7] poll_interval is whole seconds from 0 on, retain_iterations at least 1', () => {
    expect(refusalOf([loop({ poll_interval: -1 })])).toMatch(/^400 .*poll_interval/);
    expect(refusalOf([loop({ poll_interval: 315_360_001 })])).toMatch(/^400 .*poll_interval/);
    expect(refusalOf([loop({ poll_interval: 0.5 })])).toMatch(/^422 /);
    expect(refusalOf([loop({ retain_iterations: 0 })])).toContain('retain_iterations must be >= 1');
    const parsed = accepted(documentOf([loop({ poll_interval: 0, retain_iterations: 1 })])).blocks[0];
    expect(parsed).toMatchObject({ poll_interval: 0, retain_iterations: 1 });
  });

  it('[LIM-8] a for_each has a collection, an item name, a body and bounded iterations', () => {
    expect(refusalOf([each({ collection: ' ' })])).toContain('collection must not be blank (LIM-8)');
    expect(refusalOf([each({ item_var: '' })])).toContain('item_var must not be blank (LIM-8)');
    expect(refusalOf([each({ body: [] })])).toContain('body must not be empty (LIM-8)');
    expect(refusalOf([each({ max_iterations: 0 })])).toContain('max_iterations must be > 0 (LIM-8)');
    expect(refusalOf([each({ max_iterations: 100_001 })])).toContain('LIM-8');
    expect(refusalOf([each({ retain_iterations: 0 })])).toContain('LIM-8');
    expect(refusalOf([{ type: 'for_each', id: 'f', body: [] }])).toMatch(/^422 missing field `collection`/);
  });

  it('[LIM-9] a router has a route or a default, and conditions that say something', () => {
    expect(refusalOf([{ type: 'router', id: 'r', routes: [] }])).toContain(
      'at least one route or a default (LIM-9)',
    );
    expect(accepted(documentOf([{ type: 'router', id: 'r', routes: [], default: [] }])).blocks).toHaveLength(
      1,
    );
    const blank = { type: 'router', id: 'r', routes: [{ condition: '', blocks: [] }] };
    expect(refusalOf([blank])).toContain(
      'condition must not be blank (LIM-9) at blocks[0].routes[0].condition',
    );
  });

  it('[LIM-10] try_block is not empty, catch_block may be but must be there', () => {
    expect(refusalOf([{ type: 'try_catch', id: 't', try_block: [], catch_block: [] }])).toContain('LIM-10');
    const open = { type: 'try_catch', id: 't', try_block: [step('a')] };
    expect(refusalOf([open])).toMatch(/^422 missing field `catch_block`/);
    expect(accepted(documentOf([{ ...open, catch_block: [] }])).blocks).toHaveLength(1);
  });

  it('[LIM-11] sequence_name is not blank', () => {
    expect(refusalOf([{ type: 'sub_sequence', id: 's', sequence_name: ' ' }])).toContain('LIM-11');
  });

  it('[LIM-12] an A/B split has two or more variants with distinct names and a positive sum of weights', () => {
    expect(refusalOf([split([variant('a', 1)])])).toContain('at least two variants are needed (LIM-12)');
    expect(refusalOf([split([variant('a', 1), variant('a', 1)])])).toContain(
      "duplicate variant name 'a' (LIM-12)",
    );
    expect(refusalOf([split([variant('a', 1), variant(' ', 1)])])).toContain(
      'name must not be blank (LIM-12)',
    );
    expect(refusalOf([split([variant('a', 0), variant('b', 0)])])).toContain('must be > 0 (LIM-12)');
    expect(refusalOf([split([variant('a', -1), variant('b', 5)])])).toContain('weight must be between 0');
    expect(refusalOf([split([variant('a', 2 ** 32), variant('b', 5)])])).toContain(
      'weight must be between 0',
    );
    expect(refusalOf([split([variant('a', 0.5), variant('b', 5)])])).toMatch(/^422 /);
    expect(accepted(documentOf([split([variant('a', 2 ** 32 - 1), variant('b', 0)])])).blocks).toHaveLength(
      1,
    );
  });

  it('[LIM-13] a cancellation scope has at least one block', () => {
    expect(refusalOf([{ type: 'cancellation_scope', id: 'c', blocks: [] }])).toContain('LIM-13');
    expect(
      accepted(documentOf([{ type: 'cancellation_scope', id: 'c', blocks: [step('a')] }])).blocks,
    ).toHaveLength(1);
  });

  it('[LIM-14] a saga step has an id and an action; a saga may be empty', () => {
    expect(refusalOf([{ type: 'saga', id: 's', steps: [{ action: step('a') }] }])).toMatch(
      /^422 missing field `id`/,
    );
    expect(refusalOf([{ type: 'saga', id: 's', steps: [{ id: 'x' }] }])).toMatch(
      /^422 missing field `action`/,
    );
    expect(refusalOf([{ type: 'saga', id: 's', steps: [{ id: '', action: step('a') }] }])).toContain('LIM-4');
    expect(accepted(documentOf([{ type: 'saga', id: 's', steps: [] }])).blocks).toHaveLength(1);
  });

  it('[B25] min_successful is between 1 and the number of branches', () => {
    const of = (min_successful: number) => [
      { type: 'parallel', id: 'p', branches: [[], []], min_successful },
    ];
    expect(refusalOf(of(0))).toMatch(/^400 .*min_successful.*B25/);
    expect(refusalOf(of(3))).toMatch(/^400 .*min_successful/);
    expect(accepted(documentOf(of(1))).blocks).toHaveLength(1);
  });

  it('[B25] concurrency is 1 to 1,000 and tolerate has exactly one member', () => {
    expect(refusalOf([each({ concurrency: 0 })])).toMatch(/^400 .*concurrency/);
    expect(refusalOf([each({ concurrency: 1001 })])).toMatch(/^400 .*concurrency/);
    expect(refusalOf([each({ tolerate: {} })])).toMatch(/^400 .*either count or percent/);
    expect(refusalOf([each({ tolerate: { count: 1, percent: 1 } })])).toMatch(
      /^400 .*either count or percent/,
    );
    expect(refusalOf([each({ tolerate: { count: -1 } })])).toMatch(/^400 .*count must be >= 0/);
    expect(refusalOf([each({ tolerate: { percent: 101 } })])).toMatch(/^400 .*percent/);
    expect(refusalOf([each({ tolerate: { percent: -1 } })])).toMatch(/^400 .*percent/);
    expect(accepted(documentOf([each({ tolerate: { count: 0 }, concurrency: 1 })])).blocks).toHaveLength(1);
  });

  it('[LIM-21] an expression has at most 16 KiB', () => {
    const long = `'${'é'.repeat(8191)}'`;
    const longer = `${long} `;
    expect(accepted(documentOf([loop({ condition: long, break_on: long })])).blocks).toHaveLength(1);
    expect(refusalOf([loop({ condition: longer })])).toContain(
      'condition must have at most 16384 bytes (LIM-21)',
    );
    expect(refusalOf([loop({ break_on: longer })])).toContain('break_on must have');
    expect(refusalOf([step('a', { when: longer })])).toContain('when must have');
    const routes = [{ condition: longer, blocks: [] }];
    expect(refusalOf([{ type: 'router', id: 'r', routes }])).toContain('LIM-21');
  });
});
