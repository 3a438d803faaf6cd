import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { step } from './support/blocks.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const scripts = {
  charge: {},
  shape: { kind: 'pure' as const, outcome: () => ({ ok: true as const, output: { shaped: true } }) },
};

/** Runs a dry run of these blocks to its end, on the virtual clock. */
async function dryRun(
  blocks: Json,
  options: {
    readonly realTime?: boolean;
    readonly autoApprove?: boolean;
    readonly members?: { [name: string]: Json };
  } = {},
) {
  const world = new TestEngine({ scripts });
  world.boot();
  const sequenceId = await world.publish(blocks, options.members);
  const startedAt = world.time.now;
  const id = await world.start(sequenceId, {
    data: { xs: ['one'] },
    dryRun: true,
    dryRunRealTime: options.realTime ?? false,
    dryRunAutoApprove: options.autoApprove ?? false,
  });
  const view = await world.untilEnded(id);
  await world.time.calm();
  const outputs: Readonly<Record<string, Json>> = await world.outputs(id);
  return { world, id, view, outputs, tookMs: world.time.now - startedAt };
}

const WITHIN: Readonly<Record<string, (blocks: readonly Json[]) => Json>> = {
  'the root list': (blocks) => [...blocks],
  'a parallel in a loop': (blocks) => [
    {
      type: 'loop',
      id: 'l',
      condition: 'true',
      max_iterations: 1,
      body: [{ type: 'parallel', id: 'p', branches: [[...blocks], []] }],
    },
  ],
  'a try_catch in a for_each in a scope': (blocks) => [
    {
      type: 'cancellation_scope',
      id: 's',
      blocks: [
        {
          type: 'for_each',
          id: 'f',
          collection: 'xs',
          item_var: 'x',
          body: [{ type: 'try_catch', id: 't', try_block: [...blocks], catch_block: [] }],
        },
      ],
    },
  ],
  'a saga in a finally list': (blocks) => [
    {
      type: 'try_catch',
      id: 't',
      try_block: [step('first', 'noop')],
      catch_block: [],
      finally_block: [
        {
          type: 'saga',
          id: 'g',
          steps: [
            {
              id: 'g1',
              action: { type: 'router', id: 'r', routes: [{ condition: 'true', blocks: [...blocks] }] },
            },
          ],
        },
      ],
    },
  ],
};

describe('a dry run', () => {
  for (const [place, within] of Object.entries(WITHIN)) {
    it(`stubs handlers with outside effects and runs the others, in ${place} [DRY-1] [H-8] [HTTP-5]`, async () => {
      const blocks = [
        step('pay', 'charge', { params: { cents: 1 }, output_schema: { type: 'string' } }),
        step('form', 'shape', { output_schema: { type: 'object', required: ['shaped'] } }),
        step('call', 'http_request', { params: { url: 'https://example.com/x?y=1', method: 'post' } }),
        step('hand', 'packing', { params: { box: 7 } }),
        step('put', 'set_state', { params: { key: 'k', value: 5 } }),
        step('got', 'get_state', { params: { key: 'k' } }),
        step('say', 'log', { params: { message: 'hi' } }),
        step('same', 'transform', { params: { pay: '{{outputs.pay.would.params.cents}}' } }),
      ];
      const { world, id, view, outputs } = await dryRun(within(blocks));
      expect([view.state, view.failure]).toEqual(['completed', null]);
      const byBlock = Object.fromEntries(
        Object.entries(outputs).map(([key, value]) => [key.split('@')[0], value]),
      );
      expect(byBlock).toMatchObject({
        pay: { dry_run: true, handler: 'charge', would: { params: { cents: 1 } } },
        form: { shaped: true },
        call: {
          dry_run: true,
          handler: 'http_request',
          would: { method: 'POST', url: expect.any(String) },
          status: 0,
          body: '',
        },
        hand: { dry_run: true, handler: 'packing', would: { params: { box: 7 } } },
        got: { key: 'k', value: 5 },
        say: { message: 'hi' },
        same: { pay: 1 },
      });
      expect(world.ledger.of('pay')).toEqual([]);
      const open = await world.store.getFrontier(TENANT, id);
      expect(open?.openTasks).toEqual([]);
      expect(await world.poll('packing')).toBeNull();
    });
  }

  it('applies output_schema to what really ran and not to stubs [DRY-4] [SCHEMA-1]', async () => {
    const schema = { output_schema: { type: 'string' } };
    const { view } = await dryRun([step('pay', 'charge', schema), step('form', 'shape', schema)]);
    expect(view).toMatchObject({
      state: 'failed',
      failure: { blockId: 'form', error: { code: 'OUTPUT_CONTRACT_VIOLATION' } },
    });
  });

  it('checks params as a real run does [H-3] [H-8]', async () => {
    const { view } = await dryRun([step('call', 'http_request', { params: { url: 'http://localhost/' } })]);
    expect(view).toMatchObject({ state: 'failed', failure: { error: { code: 'BLOCKED_URL' } } });
  });

  it('retries what fails, with its waits [DRY-4]', async () => {
    const retry = { max_attempts: 3, initial_backoff: 700, max_backoff: 700 };
    const { view, tookMs } = await dryRun([step('no', 'fail', { params: { retryable: true }, retry })]);
    expect(view.state).toBe('failed');
    expect(tookMs).toBeGreaterThanOrEqual(1400);
  });

  const waits = [
    step('late', 'noop', { delay: { duration: 3_600_000 } }),
    step('window', 'noop', { send_window: { start_hour: 3, end_hour: 4 } }),
    step('nap', 'sleep', { params: { duration_ms: 60_000 } }),
    {
      type: 'loop',
      id: 'l',
      condition: 'true',
      max_iterations: 3,
      poll_interval: 30,
      body: [step('b', 'noop')],
    },
  ];

  it('passes delays, windows, sleeps and polls at once [DRY-3]', async () => {
    const { view, tookMs } = await dryRun(waits);
    expect(view.state).toBe('completed');
    expect(tookMs).toBeLessThan(1000);
  });

  it('keeps its times when it was started to [DRY-3]', async () => {
    const inMinutes = [waits[2], waits[3]] as Json;
    const { view, tookMs } = await dryRun(inMinutes, { realTime: true });
    expect(view).toMatchObject({ state: 'completed', dryRunRealTime: true });
    expect(tookMs).toBeGreaterThanOrEqual(120_000);
  });

  it('makes its children dry, with their times [DRY-4] [DRY-3]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    await world.publish([step('pay', 'charge'), step('nap', 'sleep', { params: { duration_ms: 5000 } })], {
      name: 'inner',
    });
    const outer = await world.publish([{ type: 'sub_sequence', id: 'c', sequence_name: 'inner' }]);
    for (const dryRunRealTime of [false, true]) {
      const startedAt = world.time.now;
      const id = await world.start(outer, { dryRun: true, dryRunRealTime });
      await world.untilState(id, 'completed');
      expect(world.time.now - startedAt >= 5000).toBe(dryRunRealTime);
      expect(await world.store.listChildren(TENANT, id)).toMatchObject([{ dryRun: true, dryRunRealTime }]);
    }
    expect(world.ledger.entries).toEqual([]);
  });

  it('waits at gates, or takes the first choice at once [DRY-2]', async () => {
    const gate = [
      step('ask', 'charge', { wait_for_input: { prompt: 'Pay?', choices: [{ label: 'Go', value: 'go' }] } }),
    ];
    const { view, outputs } = await dryRun(gate, { autoApprove: true });
    expect([view.state, view.data]).toMatchObject(['completed', { ask: 'go' }]);
    expect(outputs['ask']).toMatchObject({ dry_run: true });
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish(gate), { dryRun: true });
    expect((await world.untilState(id, 'waiting')).state).toBe('waiting');
  });

  it('stubs its cleanup hooks and its interceptors too [DRY-1] [HOOK-2] [INT-5]', async () => {
    const { world, outputs } = await dryRun([step('x', 'fail')], {
      members: {
        on_failure: [step('tidy', 'charge', { params: { a: 1 } }), step('hand', 'packing')],
        interceptors: {
          on_failure: { handler: 'charge', invoke: true },
          after_step: { handler: 'noop', invoke: true },
        },
      },
    });
    expect(outputs).toMatchObject({
      tidy: { dry_run: true, handler: 'charge', would: { params: { a: 1 } } },
      hand: { dry_run: true, handler: 'packing' },
      '_interceptor:on_failure': { dry_run: true, handler: 'charge' },
      '_interceptor:after:x': {},
    });
    expect(world.ledger.entries).toEqual([]);
  });

  it('alerts nothing and queues no webhook [DRY-4]', async () => {
    const { world, outputs } = await dryRun([step('nap', 'sleep', { params: { duration_ms: 9000 } })], {
      realTime: true,
      members: { sla: { max_runtime: 10, max_step_runtime: 10 } },
    });
    expect(Object.keys(outputs)).toEqual(['nap']);
    expect(await world.store.listWebhookOutbox(null, 'pending', 10)).toEqual([]);
  });

  it('stays dry through a retry [DRY-5]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([step('pay', 'charge'), step('x', 'fail')]), {
      dryRun: true,
    });
    await world.untilState(id, 'failed');
    const answer = await world.answered(world.operate(id, { kind: 'retry' }));
    expect(answer.status).toBe('done');
    expect((await world.untilState(id, 'failed')).dryRun).toBe(true);
    expect(world.ledger.entries).toEqual([]);
  });
});
