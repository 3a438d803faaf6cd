import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import type { StoreCall } from './support/fault-store.ts';
import { step } from './support/blocks.ts';
import { TestEngine } from './support/test-engine.ts';

const GATE = { wait_for_input: { prompt: 'Go on?' } };
const START_ID = '01800000-0000-7000-8000-00000000ffff';

const BARE = {
  namespace: 'fulfilment',
  priority: 1,
  timezone: 'UTC',
  metadata: {},
  data: {},
  config: {},
  audit: [],
  nextFireAt: null,
  concurrencyKey: null,
  maxConcurrency: null,
  idempotencyKey: null,
  sessionId: null,
  budget: null,
  dryRun: false,
  dryRunAutoApprove: false,
  originalInput: {},
};

async function booted(options: ConstructorParameters<typeof TestEngine>[0] = {}): Promise<TestEngine> {
  const world = new TestEngine(options);
  world.boot();
  await world.time.calm();
  return world;
}

/** Runs blocks to their end and answers the failure, or null. */
async function failureOf(world: TestEngine, blocks: Json, data: Json = {}): Promise<Json> {
  const ended = await world.untilEnded(await world.start(await world.publish(blocks), { data }));
  return ended.failure?.error ?? null;
}

describe('send_signal (handlers.md 6.2)', () => {
  const send = (params: JsonObject) => [step('send', 'send_signal', { params })];

  it('a signal answers the gate of another instance, which goes on at once [H-5]', async () => {
    const world = await booted();
    const asking = await world.start(await world.publish([step('ask', 'noop', GATE)]));
    await world.untilState(asking, 'waiting');
    const params = {
      instance_id: asking,
      signal_type: { custom: 'human_input:ask' },
      payload: { value: 'no' },
    };
    const sender = await world.start(await world.publish(send(params)));
    expect(await world.untilEnded(sender)).toMatchObject({ state: 'completed' });
    expect(await world.untilEnded(asking, 1000)).toMatchObject({ state: 'completed', data: { ask: 'no' } });
    expect(await world.outputs(sender)).toMatchObject({ send: { signal_id: expect.any(String) } });
  });

  it.each<readonly [string, JsonObject, string, RegExp]>([
    ['no id', { signal_type: 'pause' }, 'INVALID_PARAMS', /send_signal: instance_id is required/],
    [
      'a malformed id',
      { instance_id: 'x', signal_type: 'pause' },
      'INVALID_PARAMS',
      /instance_id must be a UUID/,
    ],
    [
      'an unknown type',
      { instance_id: START_ID, signal_type: 'stop' },
      'INVALID_PARAMS',
      /signal_type must be one of/,
    ],
    [
      'a blank name',
      { instance_id: START_ID, signal_type: { custom: ' ' } },
      'INVALID_PARAMS',
      /signal_type/,
    ],
    ['no type', { instance_id: START_ID }, 'INVALID_PARAMS', /signal_type is required/],
    [
      'an unknown target',
      { instance_id: START_ID, signal_type: 'pause' },
      'TARGET_NOT_FOUND',
      /there is no instance/,
    ],
  ])('%s fails the step permanently [H-3]', async (_, params, code, message) => {
    const world = await booted();
    const failure = await failureOf(world, send(params));
    expect(failure).toMatchObject({ code, retryable: false, message: expect.stringMatching(message) });
  });

  it('an instance of another tenant is as unknown as one that is not there', async () => {
    const world = await booted();
    const foreign = await world.store.start({
      instances: [
        {
          ...BARE,
          id: world.nextId(),
          runId: world.nextId(),
          tenantId: 'other',
          sequenceId: await world.publish([step('a', 'noop', GATE)]),
        },
      ],
      onKnownKey: 'first',
    });
    const id = foreign.status === 'ok' ? (foreign.started[0]?.id ?? '') : '';
    const failure = await failureOf(world, send({ instance_id: id, signal_type: 'cancel' }));
    expect(failure).toMatchObject({
      code: 'TARGET_NOT_FOUND',
      message: `send_signal: there is no instance ${id}`,
    });
    expect((await world.store.getFrontier('other', id))?.inbox).toEqual([]);
  });

  it('a target that has ended is TERMINAL_TARGET, and a catch may handle it', async () => {
    const world = await booted();
    const ended = await world.start(await world.publish([step('a', 'noop')]));
    await world.untilEnded(ended);
    const params = { instance_id: ended, signal_type: 'pause' };
    expect(await failureOf(world, send(params))).toMatchObject({
      code: 'TERMINAL_TARGET',
      retryable: false,
      details: { instance_id: ended },
    });
    const caught = {
      type: 'try_catch',
      id: 'try',
      try_block: send(params),
      catch_block: [step('rescue', 'noop')],
    };
    const id = await world.start(await world.publish([caught]));
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed' });
  });

  it('a target that ends between the look and the commit fails the step and not the batch (TERMINAL_TARGET)', async () => {
    const world = new TestEngine();
    world.boot();
    const target = await world.start(await world.publish([step('ask', 'noop', GATE)]));
    await world.untilState(target, 'waiting');
    let cancelled = false;
    // The sender has looked at its target, which is cancelled before the commit arrives.
    world.faults = {
      onCrash: () => undefined,
      decide: (call: StoreCall) => {
        if (cancelled || call.operation !== 'commit' || !JSON.stringify(call.args).includes('"signals":[{'))
          return null;
        cancelled = true;
        void world.operate(target, { kind: 'set_state', state: 'cancelled', nextFireAt: null });
        return { kind: 'slow-before', forMs: 2000 };
      },
    };
    const sender = await world.start(
      await world.publish(send({ instance_id: target, signal_type: 'pause' })),
    );
    const other = await world.start(await world.publish([step('calm', 'noop')]));
    expect(await world.untilEnded(sender)).toMatchObject({
      state: 'failed',
      failure: { error: { code: 'TERMINAL_TARGET' } },
      totalSteps: 1,
    });
    expect(cancelled).toBe(true);
    expect(await world.untilEnded(other)).toMatchObject({ state: 'completed' });
    expect(await world.outputs(sender)).toMatchObject({ send: { __error__: true } });
  });

  it('a signal to itself is processed before the next leaf', async () => {
    const world = await booted({ scripts: { charge: {} } });
    const blocks = [
      step('send', 'send_signal', {
        params: {
          instance_id: '{{ instance_id }}',
          signal_type: 'update_context',
          payload: { data: { seen: 1 } },
        },
      }),
      step('next', 'charge', { params: { seen: '{{ data.seen }}' } }),
    ];
    const id = await world.start(await world.publish(blocks));
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed', data: { seen: 1 } });
    expect(world.ledger.of('next').map(({ params }) => params)).toEqual([{ seen: 1 }]);
  });

  it.each(['noop', 'charge'])(
    'a cancel that a run sends to itself is its last act, before %s',
    async (handler) => {
      const world = await booted({ scripts: { charge: {} } });
      const params = { instance_id: '{{ instance_id }}', signal_type: 'cancel' };
      const id = await world.start(
        await world.publish([step('send', 'send_signal', { params }), step('next', handler)]),
      );
      expect(await world.untilEnded(id)).toMatchObject({ state: 'cancelled' });
      expect(Object.keys(await world.outputs(id))).toEqual(['send']);
      expect(world.ledger.of('next')).toEqual([]);
    },
  );

  it('a signal to itself as the last block is processed before the end [SIG-4]', async () => {
    const world = await booted();
    const params = {
      instance_id: '{{ instance_id }}',
      signal_type: 'update_context',
      payload: { data: { late: true } },
    };
    const id = await world.start(await world.publish([step('send', 'send_signal', { params })]));
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed', data: { late: true } });
  });

  it('a dry run looks at the target and sends nothing', async () => {
    const world = await booted();
    const target = await world.start(await world.publish([step('ask', 'noop', GATE)]));
    await world.untilState(target, 'waiting');
    const good = await world.start(
      await world.publish(send({ instance_id: target, signal_type: 'cancel' })),
      { dryRun: true },
    );
    await world.untilEnded(good);
    expect(await world.outputs(good)).toEqual({
      send: { dry_run: true, handler: 'send_signal', would: { instance_id: target }, signal_id: null },
    });
    expect(await world.view(target)).toMatchObject({ state: 'waiting' });
    const bad = await world.start(
      await world.publish(send({ instance_id: START_ID, signal_type: 'cancel' })),
      { dryRun: true },
    );
    expect(await world.untilEnded(bad)).toMatchObject({ state: 'failed' });
  });
});
