import { describe, expect, it } from 'vitest';
import { chooseVariant } from '../../src/core/run/blocks/a-b-split.ts';
import { loop, router, scope, sleep, split, step, task, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { cancelAt, fails, ok, reportAt, signal } from './support/script.ts';

describe('router', () => {
  const routes = [
    ['data.n > 5', [step('a')]],
    ['data.n > 1', [step('b')]],
  ] as const;
  const table: readonly (readonly [number, boolean, string])[] = [
    [9, true, 'a'],
    [3, true, 'b'],
    [0, true, 'd'],
    [0, false, ''],
  ];
  for (const [n, fallback, chosen] of table) {
    it(`with n = ${n} ${fallback ? 'and' : 'without'} a default takes ${chosen === '' ? 'nothing' : chosen} [ROUTE-1] [ROUTE-3]`, async () => {
      const run = await play({
        blocks: [router('r', routes, fallback ? [step('d')] : undefined)],
        data: { n },
      });
      expect(run.state).toBe('completed');
      expect(run.called).toEqual(chosen === '' ? [] : [chosen]);
      for (const [id, state] of Object.entries(run.tree)) {
        expect([id, state]).toEqual([id, id === 'r' || id === chosen ? 'completed' : 'skipped']);
      }
    });
  }

  it('judges a broken condition as false [ROUTE-1]', async () => {
    const run = await play({ blocks: [router('r', [['data.n >', [step('a')]]], [step('d')])] });
    expect(run.called).toEqual(['d']);
  });

  it('decides once; later context changes do not move it [ROUTE-2]', async () => {
    const run = await play({
      blocks: [router('r', [['data.go', [sleep('s', 100), step('a')]]], [step('b')])],
      data: { go: true },
      events: [signal(50, 'update_context', { data: { go: false } })],
    });
    expect(run.called).toEqual(['a']);
    expect(run.nodes[0]?.decision).toEqual({ route: 0 });
  });

  it('skips what it did not take, also when it is cancelled or fails later [ROUTE-3] [LIST-6]', async () => {
    const blocks = [router('r', [['true', [sleep('s', 100), step('a')]]], [tryCatch('t', [step('b')])])];
    const open = await play({ blocks, untilMs: 50 });
    expect(open.tree).toEqual({ r: 'running', s: 'running:sleep', a: 'pending', t: 'skipped', b: 'skipped' });
    const cancelled = await play({ blocks, events: [cancelAt(50)] });
    expect(cancelled.tree).toEqual({
      r: 'cancelled',
      s: 'cancelled',
      a: 'cancelled',
      t: 'skipped',
      b: 'skipped',
    });
    const failed = await play({ blocks, on: { a: fails('no') } });
    expect(failed.tree).toEqual({ r: 'failed', s: 'completed', a: 'failed', t: 'skipped', b: 'skipped' });
  });

  it('reads outputs that were written before [ROUTE-1]', async () => {
    const run = await play({
      blocks: [
        sleep('w', 100),
        step('x'),
        sleep('s', 100),
        router('r', [['outputs.x.left < 5', [step('a')]]]),
      ],
      on: { x: ok({ left: 4 }) },
    });
    expect(run.called).toEqual(['x', 'a']);
  });
});

describe('a_b_split', () => {
  const vectors: readonly (readonly [string, string, readonly number[], number])[] = [
    ['0b9c6f1e-5a72-4d38-9e11-7c20d4a85f63', 'hero_copy', [70, 30], 1],
    ['0b9c6f1e-5a72-4d38-9e11-7c20d4a85f63', 'cta', [70, 30], 1],
    ['f3a1d2b4-0000-4c5d-8e6f-112233445566', 'hero_copy', [70, 30], 1],
    ['f3a1d2b4-0000-4c5d-8e6f-112233445566', 'price-é', [1, 1, 2], 2],
    ['11111111-2222-4333-8444-555555555555', 'price-é', [1, 1, 2], 0],
  ];
  for (const [instanceId, id, weights, variant] of vectors) {
    it(`chooses variant ${variant} of ${JSON.stringify(weights)} for ${id} in ${instanceId} [AB-1]`, async () => {
      const variants = weights.map((weight, index) => ({ name: `v${index}`, weight, blocks: [] }));
      expect(chooseVariant(instanceId, { id, variants })).toBe(variant);
      const blocks = [
        split(
          id,
          weights.map((weight, index) => [weight, [step(`s${index}`)]] as const),
        ),
      ];
      const run = await play({ instanceId, blocks });
      expect(run.called).toEqual([`s${variant}`]);
    });
  }

  it('writes its row on entry and skips the other variants [AB-2]', async () => {
    const run = await play({
      blocks: [
        split('ab', [
          [0, [step('a'), tryCatch('t', [step('b')])]],
          [1, [sleep('s', 100), step('c')]],
        ]),
      ],
      untilMs: 50,
    });
    expect(run.outputs).toEqual(['ab={"variant":"v1","variant_index":1}']);
    expect(run.tree).toEqual({
      ab: 'running',
      a: 'skipped',
      t: 'skipped',
      b: 'skipped',
      s: 'running:sleep',
      c: 'pending',
    });
  });

  it('makes the chosen name readable for texts [AB-2] [OUT-5]', async () => {
    const run = await play({
      blocks: [
        split('ab', [
          [1, [step('a', { params: { v: '{{outputs.ab.variant}}' } })]],
          [0, []],
        ]),
      ],
    });
    expect(run.calls[0]?.params).toEqual({ v: 'v0' });
  });

  it('chooses the same in each pass and writes its row again [AB-3] (chapter 10)', async () => {
    const run = await play({
      blocks: [
        loop(
          'l',
          [
            split('ab', [
              [70, [step('a')]],
              [30, [step('b')]],
            ]),
          ],
          { max_iterations: 3 },
        ),
      ],
    });
    expect(new Set(run.called.map((text) => text[0])).size).toBe(1);
    expect(run.rows.filter((row) => row.kind === 'variant').map((row) => row.iteration)).toEqual(['l:2']);
  });

  it('never chooses weight 0 and adds large weights exactly [AB-1] [AB-2]', () => {
    const id = 'hero_copy';
    const of = (weights: readonly number[]): number =>
      chooseVariant('0b9c6f1e-5a72-4d38-9e11-7c20d4a85f63', {
        id,
        variants: weights.map((weight, index) => ({ name: `v${index}`, weight, blocks: [] })),
      });
    expect(of([0, 0, 5])).toBe(2);
    expect(of([5, 0, 0])).toBe(0);
    expect([0, 1]).toContain(of([4_294_967_295, 4_294_967_295]));
  });
});

describe('cancellation_scope', () => {
  it('runs its blocks as a list and ends as it [SCOPE-1]', async () => {
    const run = await play({ blocks: [scope('k', [step('a'), step('b')])], on: { a: fails('no') } });
    expect(run.state).toBe('failed');
    expect(run.tree).toEqual({ k: 'failed', a: 'failed', b: 'skipped' });
  });

  it('is not touched by a cancel while it is active [SCOPE-2]', async () => {
    const run = await play({
      blocks: [scope('k', [sleep('a', 100), task('b'), step('c', { delay: { duration: 50 } })]), step('z')],
      events: [cancelAt(10), reportAt(200, 'b', ok())],
    });
    expect(run.state).toBe('cancelled');
    expect(run.endedMs).toBe(250);
    expect(run.tree).toEqual({
      k: 'completed',
      a: 'completed',
      b: 'completed',
      c: 'completed',
      z: 'cancelled',
    });
  });

  it('is cancelled without running when it has not been entered [SCOPE-2]', async () => {
    const run = await play({ blocks: [sleep('s', 100), scope('k', [step('a')])], events: [cancelAt(10)] });
    expect(run.state).toBe('cancelled');
    expect(run.tree).toEqual({ s: 'cancelled', k: 'cancelled', a: 'cancelled' });
  });

  it('protects all that is nested in it [SCOPE-2] (chapter 10)', async () => {
    const run = await play({
      blocks: [
        tryCatch('t', [
          scope('k', [loop('l', [tryCatch('u', [sleep('s', 100), step('a')], [step('c')])])]),
          step('x'),
        ]),
      ],
      on: { a: fails('no') },
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.called).toEqual(['a@l:0', 'c@l:0', 'a@l:1', 'c@l:1']);
    expect(run.tree).toMatchObject({ t: 'cancelled', k: 'completed', x: 'cancelled' });
  });

  it('fails the run when something in it fails during a cancel [CAN-4]', async () => {
    const run = await play({
      blocks: [scope('k', [sleep('s', 100), step('a')])],
      on: { a: fails('no') },
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('failed');
  });
});
