import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import type { AcceptedEvent } from '../../src/ports/store/events.ts';
import { parallel, step } from './support/blocks.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

async function booted(options: ConstructorParameters<typeof TestEngine>[0] = {}): Promise<TestEngine> {
  const world = new TestEngine(options);
  world.boot();
  await world.time.calm();
  return world;
}

/** Sends an event and lets a live process look at the instance, as the API does. */
async function send(
  world: TestEngine,
  eventName: string,
  correlationKey = 'o-7',
  payload: Json = {},
): Promise<AcceptedEvent> {
  const id = world.nextId();
  const event = { id, tenantId: TENANT, eventName, producerEventId: id, correlationKey, payload };
  const accepted = await world.store.acceptEvent(event);
  if (accepted.match?.satisfied === true) world.look(accepted.match.instanceId);
  return accepted;
}

const wait = (id: string, params: JsonObject = {}, members: JsonObject = {}): JsonObject =>
  step(id, 'wait_for_event', {
    params: { events: 'paid', correlation_key: 'o-7', ...params },
    wait_for_input: { prompt: 'Go on without?', ...members },
  });

async function waiting(world: TestEngine, blocks: Json, data: Json = {}): Promise<string> {
  const id = await world.start(await world.publish(blocks), { data });
  await world.untilState(id, 'waiting');
  return id;
}

describe('wait_for_event (handlers.md 6.4)', () => {
  it('params are resolved when the gate opens, and the event is in the result [WAIT-1] [WAIT-8]', async () => {
    const world = await booted();
    const id = await waiting(world, [
      step('first', 'transform', { params: { key: 'o-9' } }),
      wait('w', { events: ['paid', 'paid'], correlation_key: '{{ outputs.first.key }}' }),
    ]);
    expect(await send(world, 'paid', 'o-7')).toMatchObject({ match: null });
    const { match, eventId } = await send(world, 'paid', 'o-9', { sum: 12 });
    await world.untilEnded(id, 1000);
    const entry = { event_name: 'paid', producer_event_id: eventId, payload: { sum: 12 } };
    expect((await world.outputs(id))['w']).toEqual({
      wait_id: match?.waitId,
      waiting_for: ['paid'],
      correlation_key: 'o-9',
      satisfied: true,
      matched: ['paid'],
      events: { paid: entry },
      all: [entry],
    });
  });

  it('of several events of one name `events` holds the last, `all` has each [WAIT-3] [WAIT-8]', async () => {
    const world = await booted();
    const id = await waiting(world, [wait('w', { join: 'count', count: 2 })]);
    await send(world, 'paid', 'o-7', 1);
    await send(world, 'paid', 'o-7', 2);
    await world.untilEnded(id, 1000);
    expect((await world.outputs(id))['w']).toMatchObject({
      matched: ['paid', 'paid'],
      events: { paid: { payload: 2 } },
      all: [{ payload: 1 }, { payload: 2 }],
    });
  });

  it.each<readonly [string, JsonObject]>([
    ['no events', { events: [] }],
    ['an empty name', { events: ['paid', ''] }],
    ['a name that is no text', { events: [7] }],
    ['a blank key', { correlation_key: ' ' }],
    ['a key that is too long', { correlation_key: 'k'.repeat(513) }],
    ['an unknown join', { join: 'most' }],
    ['a count of zero', { join: 'count', count: 0 }],
    ['no count', { join: 'count' }],
  ])('%s fails the step before its gate opens [WAIT-1]', async (_, params) => {
    const world = await booted();
    const id = await world.start(await world.publish([wait('w', params)]));
    const ended = await world.untilEnded(id);
    expect(ended.failure?.error).toMatchObject({ code: 'INVALID_PARAMS', retryable: false });
    expect(world.sentCommits(id).flatMap(({ outside }) => outside?.waits ?? [])).toEqual([]);
  });

  it('an event opens the gate as the answer yes does, stored under store_as [WAIT-4]', async () => {
    const world = await booted();
    const id = await waiting(world, [wait('w', {}, { store_as: 'answer' })]);
    await send(world, 'paid');
    const ended = await world.untilEnded(id, 1000);
    expect(ended.data).toEqual({ answer: 'yes' });
    const rows = await world.store.listOutputs(TENANT, id, { node: false, retry: false });
    expect(rows?.map(({ kind, output }) => [kind, output])).toMatchObject([
      ['gate', { value: 'yes', _human_gate: true }],
      ['result', { satisfied: true }],
    ]);
  });

  it('a person may answer first; the wait ends and the event is left for others [WAIT-5] [WAIT-6]', async () => {
    const world = await booted();
    const id = await waiting(world, [wait('w')]);
    await world.signal(id, 'custom:human_input:w', { value: 'yes' });
    await world.untilEnded(id, 1000);
    expect((await world.outputs(id))['w']).toMatchObject({
      satisfied: false,
      matched: [],
      events: {},
      all: [],
    });
    expect(await send(world, 'paid')).toMatchObject({ match: null });
  });

  it('a timeout of the gate ends the wait [WAIT-1] [WAIT-6]', async () => {
    const world = await booted();
    const id = await waiting(world, [wait('w', {}, { timeout: 5000 })]);
    expect((await world.untilState(id, 'failed', 6000)).failure?.error).toMatchObject({
      code: 'HUMAN_INPUT_TIMEOUT',
    });
    expect(await send(world, 'paid')).toMatchObject({ match: null });
  });

  it('an escalation ends the wait and the handler does not run [WAIT-1] [WAIT-6]', async () => {
    const world = await booted();
    const id = await waiting(world, [wait('w', {}, { timeout: 5000, escalation_handler: 'noop' })]);
    await world.untilEnded(id, 6000);
    expect((await world.outputs(id))['w']).toMatchObject({ _escalated: true });
    expect(await send(world, 'paid')).toMatchObject({ match: null });
  });

  it.each(['cancel', 'immediate cancel'])(
    'a %s ends the wait, what it took stays consumed [WAIT-6]',
    async (how) => {
      const world = await booted();
      const id = await waiting(world, [wait('w', { events: ['paid', 'packed'] })]);
      const { eventId } = await send(world, 'paid');
      if (how === 'cancel') await world.signal(id, 'cancel');
      else
        await world.answered(world.operate(id, { kind: 'set_state', state: 'cancelled', nextFireAt: null }));
      await world.untilState(id, 'cancelled', 1000);
      expect(await send(world, 'packed')).toMatchObject({ match: null });
      expect(await world.store.getEvent(TENANT, eventId)).toMatchObject({ status: 'consumed' });
    },
  );

  it('each pass of a loop has a wait of its own [WAIT-6] [HI-7]', async () => {
    const world = await booted();
    const loop = { type: 'loop', id: 'rounds', condition: 'true', max_iterations: 3, body: [wait('w')] };
    const id = await waiting(world, [loop]);
    for (const n of [0, 1, 2]) {
      await world.untilState(id, 'waiting');
      await send(world, 'paid', 'o-7', n);
    }
    await world.untilEnded(id, 5000);
    const rows = await world.store.listOutputs(TENANT, id, { node: false, retry: false });
    const results = rows?.filter(({ kind, blockId }) => kind === 'result' && blockId === 'w') ?? [];
    expect(results.map(({ iteration, output }) => [iteration, output])).toMatchObject([
      ['rounds:0', { all: [{ payload: 0 }] }],
      ['rounds:1', { all: [{ payload: 1 }] }],
      ['rounds:2', { all: [{ payload: 2 }] }],
    ]);
  });

  it('a race that is lost ends the wait; the winner waits no longer [RACE-3] [WAIT-6]', async () => {
    const world = await booted();
    const branches = [[wait('paid')], [wait('sent', { events: 'sent' })]];
    const id = await waiting(world, [{ type: 'race', id: 'race', branches }]);
    await send(world, 'sent');
    await world.untilEnded(id, 1000);
    expect(Object.keys(await world.outputs(id))).toContain('sent');
    expect(await send(world, 'paid')).toMatchObject({ match: null });
  });

  it('waits in parallel branches take one event each, the older one first [WAIT-2]', async () => {
    const world = await booted();
    const deep = { type: 'cancellation_scope', id: 'scope', blocks: [wait('second')] };
    const tried = { type: 'try_catch', id: 'try', try_block: [deep], catch_block: [step('rescue', 'noop')] };
    const id = await waiting(world, [parallel('both', [wait('first')], [tried])]);
    await send(world, 'paid', 'o-7', 1);
    await world.untilState(id, 'waiting');
    await send(world, 'paid', 'o-7', 2);
    await world.untilEnded(id, 1000);
    const outputs = await world.outputs(id);
    expect([outputs['first'], outputs['second']]).toMatchObject([
      { all: [{ payload: 1 }] },
      { all: [{ payload: 2 }] },
    ]);
  });

  it('an event reaches a paused run, whose gate is open after the resume [WAIT-4]', async () => {
    const world = await booted();
    const blocks = [
      parallel('both', [wait('w')], [step('nap', 'sleep', { params: { duration_ms: 60_000 } })]),
    ];
    const id = await world.start(await world.publish(blocks));
    await world.untilState(id, 'running');
    await world.signal(id, 'pause');
    await world.untilState(id, 'paused');
    expect(await send(world, 'paid')).toMatchObject({ match: { satisfied: true } });
    await world.time.pass(1000);
    expect((await world.view(id)).state).toBe('paused');
    await world.signal(id, 'resume');
    await world.untilEnded(id, 120_000);
    expect((await world.outputs(id))['w']).toMatchObject({ satisfied: true });
  });

  it('without a gate it takes what is there and answers at once [WAIT-7]', async () => {
    const world = await booted();
    const bare = (id: string, params: JsonObject = {}) =>
      step(id, 'wait_for_event', {
        params: { events: ['paid', 'packed'], correlation_key: 'o-7', ...params },
      });
    const nothing = await world.start(await world.publish([bare('w')]));
    await world.untilEnded(nothing);
    expect((await world.outputs(nothing))['w']).toMatchObject({ satisfied: false, matched: [], events: {} });
    const { eventId } = await send(world, 'paid', 'o-7', 5);
    const some = await world.start(await world.publish([bare('w', { join: 'any' })]));
    await world.untilEnded(some);
    expect((await world.outputs(some))['w']).toMatchObject({
      satisfied: true,
      events: { paid: { payload: 5 } },
    });
    expect(await world.store.getEvent(TENANT, eventId)).toMatchObject({ status: 'consumed' });
  });

  it('a dry run registers nothing: approved by itself it is not satisfied, else it waits at the gate', async () => {
    const world = await booted();
    const dry = await world.start(await world.publish([wait('w')]), { dryRun: true });
    await world.untilState(dry, 'waiting');
    expect(await send(world, 'paid')).toMatchObject({ match: null });
    await world.signal(dry, 'custom:human_input:w', { value: 'yes' });
    await world.untilEnded(dry, 1000);
    expect((await world.outputs(dry))['w']).toMatchObject({ satisfied: false });
    const bad = await world.start(await world.publish([wait('w', { join: 'most' })]), { dryRun: true });
    expect(await world.untilEnded(bad)).toMatchObject({ state: 'failed' });
  });

  it('a retry of a failed run keeps what the wait has matched [HI-5] [WAIT-6]', async () => {
    const world = await booted({
      scripts: {
        charge: {
          outcome: (call) =>
            call.idempotencyKey.includes('never')
              ? { ok: true, output: 1 }
              : { ok: false, failure: { message: 'no', retryable: false } },
        },
      },
    });
    const id = await waiting(world, [wait('w'), step('pay', 'charge')]);
    await send(world, 'paid', 'o-7', 3);
    await world.untilState(id, 'failed');
    await world.answered(world.operate(id, { kind: 'retry' }));
    await world.untilState(id, 'failed');
    expect((await world.outputs(id))['w']).toMatchObject({ satisfied: true, all: [{ payload: 3 }] });
    expect(world.ledger.of('pay')).toHaveLength(2);
  });
});
