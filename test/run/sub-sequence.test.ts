import { describe, expect, it } from 'vitest';
import type { InstanceView } from '../../src/ports/store/reads.ts';
import { child, forEach, loop, parallel, race, scope, sleep, step, tryCatch } from './support/blocks.ts';
import { type Played, play, playOnce } from './support/play.ts';
import { byRun, cancelAt, fails, ok, retryAt, signal } from './support/script.ts';

const childrenOf = async (run: Played): Promise<readonly InstanceView[]> =>
  (await run.world.store.listChildren(null, run.instance.id)) ?? [];

const ONE_STEP = { inner: { blocks: [step('i', { params: { v: '{{data.v}}' } })] } };

describe('sub_sequence', () => {
  const inputs: readonly (readonly [unknown, unknown])[] = [
    [
      { v: '{{data.n}}', w: 'x' },
      { v: 7, w: 'x' },
    ],
    [null, {}],
    ['{{data.n}}', 7],
    ['{{data.none}}', {}],
    [
      [1, 2],
      [1, 2],
    ],
  ];
  for (const [input, data] of inputs) {
    it(`starts its child with ${JSON.stringify(data)} for the input ${JSON.stringify(input)} [SUB-1]`, async () => {
      const run = await play({
        blocks: [child('c', 'inner', { input: input as never })],
        sequences: ONE_STEP,
        data: { n: 7 },
      });
      expect(run.state).toBe('completed');
      const [started] = await childrenOf(run);
      expect(started?.data).toEqual(data);
      expect(started).toMatchObject({ config: {}, depth: 1, parent: { blockId: 'c', iteration: '' } });
      expect(started?.metadata).toEqual({ _parent_block_id: 'c', _sub_sequence_depth: 1 });
    });
  }

  it('waits for its child and takes its rows as its result [SUB-6] [SUB-7]', async () => {
    const sequences = { inner: { blocks: [step('i'), sleep('j', 1000), loop('l', [step('k')])] } };
    const waiting = await play({ blocks: [child('c', 'inner')], sequences, untilMs: 500 });
    expect(waiting.state).toBe('waiting');
    expect(waiting.tree).toEqual({ c: 'waiting:child' });
    const [started] = await childrenOf(waiting);
    expect(waiting.nodes[0]?.decision).toEqual({ child_instance_id: started?.id });
    const run = await play({
      blocks: [child('c', 'inner'), step('z', { params: { n: '{{outputs.c | length}}' } })],
      sequences,
    });
    expect(run.state).toBe('completed');
    expect(run.rows[0]?.output).toMatchObject([
      { block_id: 'i', output: { from: 'i' }, output_ref: null, attempt: 0 },
      { block_id: 'j', output: { slept_ms: 1000 } },
      { block_id: 'k', output: { from: 'k' } },
      { block_id: 'l', output: { _iterations: 1 }, attempt: 1 },
      { block_id: 'k' },
      { block_id: 'l' },
    ]);
  });

  it('fails permanently and catchably when there is no such sequence [SUB-2]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [child('c', 'nobody')]), child('d', 'inner', { version: 4 })],
      sequences: ONE_STEP,
    });
    expect(run.instance.data).toMatchObject({
      _error: { errors: [{ block_id: 'c', code: 'SEQUENCE_NOT_FOUND' }] },
    });
    expect(run.instance.failure).toMatchObject({ blockId: 'd', error: { code: 'SEQUENCE_NOT_FOUND' } });
    expect(await childrenOf(run)).toEqual([]);
  });

  it('fails when its input breaks the schema of the child, and creates none [SUB-4]', async () => {
    const run = await play({
      blocks: [child('c', 'inner', { input: { v: 1 } })],
      sequences: { inner: { ...ONE_STEP.inner, inputSchema: { type: 'object', required: ['w'] } } },
    });
    expect(run.instance.failure).toMatchObject({
      error: { code: 'INPUT_CONTRACT_VIOLATION', details: { violations: [{}] } },
    });
    expect(await childrenOf(run)).toEqual([]);
  });

  it('fails on a template error in its input [TPL-3] [TPL-4]', async () => {
    const run = await play({
      blocks: [child('c', 'inner', { input: '{{nowhere.x}}' })],
      sequences: ONE_STEP,
    });
    expect(run.instance.failure).toMatchObject({ error: { code: 'TEMPLATE_ERROR' } });
  });

  it('nests at most 16 deep: a sequence that calls itself makes 17 instances [SUB-5]', async () => {
    const run = await play({
      blocks: [child('c', 'inner')],
      sequences: { inner: { blocks: [child('d', 'inner')] } },
    });
    expect(run.state).toBe('failed');
    const all = await run.world.store.listInstances({
      tenantId: null,
      namespace: null,
      sequenceId: null,
      states: [],
      metadata: [],
      limit: 100,
      offset: 0,
    });
    expect(all.length).toBe(17);
    expect(all.filter((known) => known.depth === 16)).toMatchObject([
      { failure: { error: { code: 'DEPTH_EXCEEDED' } } },
    ]);
  });

  it('starts a new child in each pass, and one per pass [SUB-6] (D6)', async () => {
    const run = await play({
      blocks: [
        loop('l', [child('c', 'inner')], { max_iterations: 3 }),
        forEach('f', 'xs', [child('d', 'inner')]),
      ],
      sequences: ONE_STEP,
      data: { xs: [1, 2] },
    });
    expect(run.state).toBe('completed');
    const children = await childrenOf(run);
    expect(children.map((known) => [known.parent?.blockId, known.parent?.iteration])).toEqual([
      ['c', 'l:0'],
      ['c', 'l:1'],
      ['c', 'l:2'],
      ['d', 'f:0'],
      ['d', 'f:1'],
    ]);
  });

  it('fails when its child failed or was cancelled [SUB-7]', async () => {
    const failed = await play({ blocks: [child('c', 'inner')], sequences: ONE_STEP, on: { i: fails('no') } });
    const [one] = await childrenOf(failed);
    expect(failed.instance.failure?.error).toMatchObject({
      code: 'CHILD_FAILED',
      retryable: false,
      details: { child_instance_id: one?.id },
    });
    const cancelled = await playOnce({
      blocks: [child('c', 'inner')],
      sequences: { inner: { blocks: [sleep('s', 900)] } },
      untilMs: 10,
    });
    const [two] = await childrenOf(cancelled);
    expect(two?.state).toBe('running');
  });

  it('cancels its child with itself and does not wait for it [SUB-9] [CAN-1]', async () => {
    const run = await play({
      blocks: [child('c', 'inner'), step('z')],
      sequences: { inner: { blocks: [scope('k', [sleep('s', 900)])] } },
      events: [cancelAt(100)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.tree).toEqual({ c: 'cancelled', z: 'cancelled' });
    const [started] = await childrenOf(run);
    expect(started).toMatchObject({ state: 'cancelled', cancelRequestedAt: run.world.startAt + 100 });
    expect(run.endedMs).toBe(900);
  });

  it('is protected by a scope around it [SCOPE-2]', async () => {
    const run = await play({
      blocks: [scope('k', [child('c', 'inner')]), step('z')],
      sequences: { inner: { blocks: [sleep('s', 900)] } },
      events: [cancelAt(100)],
    });
    expect(run.tree).toEqual({ k: 'completed', c: 'completed', z: 'cancelled' });
  });

  it('does not pause its child with the parent [SUB-10]', async () => {
    const run = await play({
      blocks: [parallel('p', [[child('c', 'inner')], [step('a', { delay: { duration: 9000 } })]])],
      sequences: { inner: { blocks: [sleep('s', 900), step('i')] } },
      events: [signal(100, 'pause')],
    });
    expect(run.state).toBe('paused');
    const [started] = await childrenOf(run);
    expect(started?.state).toBe('completed');
  });

  it('starts a new child when the instance is retried [OP-3]', async () => {
    const run = await play({
      blocks: [child('c', 'inner')],
      sequences: ONE_STEP,
      on: { i: ({ context }) => (context.runtime['run_id'] === '' ? ok() : fails('no')) },
      events: [retryAt(100)],
    });
    expect(run.state).toBe('failed');
    expect((await childrenOf(run)).length).toBe(2);
  });

  it('takes the end of a child that came while the parent was paused', async () => {
    const run = await play({
      blocks: [parallel('p', [[child('c', 'inner')], [step('a', { delay: { duration: 500 } })]])],
      sequences: { inner: { blocks: [sleep('s', 200)] } },
      events: [signal(100, 'pause'), signal(1000, 'resume')],
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 1000]);
  });

  it('loses a race with its child cancelled, in each pass anew (chapter 10)', async () => {
    const run = await play({
      blocks: [loop('l', [race('r', [[child('c', 'inner')], [sleep('s', 100)]])])],
      sequences: { inner: { blocks: [sleep('i', 900)] } },
      on: { x: byRun(ok()) },
    });
    expect(run.state).toBe('completed');
    expect((await childrenOf(run)).map((known) => known.state)).toEqual(['cancelled', 'cancelled']);
  });
});
