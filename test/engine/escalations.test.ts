import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { step } from './support/blocks.ts';
import { faultAt } from './support/fault-plans.ts';
import { verified } from './support/reshaping.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const scripts = { slow: { takesMs: 60_000, listens: true }, quick: {} };
const DEADLINE_MS = 1000;

const late = (id: string, handler: string, params: JsonObject): JsonObject =>
  step(id, 'slow', { deadline: DEADLINE_MS, on_deadline_breach: { handler, params } });

const unanswered = (id: string, handler: string): JsonObject =>
  step(id, 'quick', { wait_for_input: { prompt: 'Ship it?', timeout: 1000, escalation_handler: handler } });

async function booted(options: ConstructorParameters<typeof TestEngine>[0] = {}): Promise<TestEngine> {
  const world = new TestEngine({ scripts, ...options });
  world.boot();
  await world.time.calm();
  return world;
}

async function asking(world: TestEngine): Promise<string> {
  const gate = step('ask', 'quick', { wait_for_input: { prompt: 'Go on?' } });
  const id = await world.start(await world.publish([gate]));
  await world.untilState(id, 'waiting');
  return id;
}

const answer = (instanceId: string): JsonObject => ({
  instance_id: instanceId,
  signal_type: { custom: 'human_input:ask' },
  payload: { value: 'no' },
});

async function stateOf(world: TestEngine, instanceId: string): Promise<JsonObject> {
  return Object.fromEntries(await world.store.readState({ tenantId: TENANT, instanceId }, 'all'));
}

describe('what an escalation does is part of the commit of the breach [DL-3] [HI-10]', () => {
  it('send_signal: the signal arrives, once', async () => {
    const world = await booted();
    const other = await asking(world);
    const id = await world.start(await world.publish([late('a', 'send_signal', answer(other))]));
    expect((await world.untilEnded(id)).failure?.error).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(await world.untilEnded(other, 1000)).toMatchObject({ state: 'completed', data: { ask: 'no' } });
    expect(await verified(world, id)).toEqual([]);
  });

  it('send_signal: a commit that is refused sends nothing, and the next one sends it', async () => {
    const world = await booted();
    const other = await asking(world);
    const id = await world.start(await world.publish([late('a', 'send_signal', answer(other))]));
    await world.time.pass(DEADLINE_MS - 10);
    world.faults = faultAt('commit', 0, { kind: 'slow-before', forMs: 200 });
    await world.time.pass(20);
    await world.signal(id, 'update_context', { data: { note: 1 } }, { nudge: false });
    await world.untilEnded(id);
    expect(await world.untilEnded(other, 1000)).toMatchObject({ state: 'completed' });
    const sent = world.sentCommits(id).flatMap(({ outside }) => outside?.signals ?? []);
    expect(sent.length).toBeGreaterThan(1);
    expect(new Set(sent.map(({ signalId }) => signalId)).size).toBe(1);
  });

  it('send_signal: a signal to the run itself comes before what follows the breach', async () => {
    const world = await booted();
    const tell = { signal_type: 'update_context', payload: { data: { late: true } } };
    const blocks = [
      {
        type: 'try_catch',
        id: 't',
        try_block: [late('a', 'send_signal', tell)],
        catch_block: [step('c', 'quick', { params: { late: '{{data.late}}' } })],
      },
    ];
    const id = await world.start(await world.publish(blocks));
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed', data: { late: true } });
    expect(world.ledger.of('c').map(({ params }) => params)).toEqual([{ late: true }]);
  });

  it('send_signal: breaches of two passes are two signals', async () => {
    const world = await booted();
    const other = await asking(world);
    const tell = { instance_id: other, signal_type: 'update_context', payload: { data: { n: 1 } } };
    const body = [
      {
        type: 'try_catch',
        id: 't',
        try_block: [late('a', 'send_signal', tell)],
        catch_block: [step('c', 'quick')],
      },
    ];
    const id = await world.start(
      await world.publish([{ type: 'loop', id: 'l', condition: 'true', max_iterations: 2, body }]),
    );
    await world.untilEnded(id);
    const sent = world.sentCommits(id).flatMap(({ outside }) => outside?.signals ?? []);
    expect(new Set(sent.map(({ signalId }) => signalId)).size).toBe(2);
  });

  it('send_signal: a target that has ended changes nothing about the breach, and the log says so', async () => {
    const world = await booted();
    const other = await asking(world);
    await world.signal(other, 'cancel');
    await world.untilEnded(other);
    const id = await world.start(await world.publish([late('a', 'send_signal', answer(other))]));
    expect((await world.untilEnded(id)).failure?.error).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(world.log().filter((line) => line.includes('an escalation failed'))).toHaveLength(1);
  });

  it('set_state: what follows reads the value', async () => {
    const world = await booted();
    const blocks = [
      {
        type: 'try_catch',
        id: 't',
        try_block: [late('a', 'set_state', { key: 'late', value: '{{data.order}}' })],
        catch_block: [step('c', 'quick', { params: { late: '{{state.late}}' } })],
      },
    ];
    const id = await world.start(await world.publish(blocks), { data: { order: 7 } });
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed' });
    expect(await stateOf(world, id)).toMatchObject({ late: 7 });
    expect(world.ledger.of('c').map(({ params }) => params)).toEqual([{ late: 7 }]);
  });

  it('emit_event: the run of the trigger is started, once', async () => {
    const world = await booted();
    const sequenceId = await world.publish([step('work', 'quick')]);
    const sequence = await world.store.getSequence(TENANT, sequenceId);
    await world.store.insertTrigger({
      ...{ slug: 'late-orders', tenantId: TENANT, namespace: 'fulfilment', version: null, enabled: true },
      ...{ sequenceName: sequence?.name ?? '', secret: null, triggerType: 'event', config: null },
    });
    const blocks = [late('a', 'emit_event', { trigger_slug: 'late-orders', data: { order: 7 } })];
    const id = await world.start(await world.publish(blocks));
    await world.untilEnded(id);
    const started = world.sentCommits(id).flatMap(({ outside }) => outside?.emits ?? []);
    expect(started).toHaveLength(1);
    const child = await world.untilEnded(started[0]?.instanceId ?? '', 1000);
    expect(child).toMatchObject({ state: 'completed', data: { order: 7 } });
  });

  it('a handler of users that is no pure one is called after the commit; what it wants written is dropped and logged', async () => {
    const writes = [{ type: 'state_set' as const, key: 'paged', value: true }];
    const page = { outcome: () => ({ ok: true as const, output: null, writes }) };
    const world = await booted({ scripts: { ...scripts, page } });
    const id = await world.start(await world.publish([unanswered('g', 'page')]));
    expect(await world.untilEnded(id)).toMatchObject({ state: 'completed' });
    await world.time.pass(1000);
    expect(world.ledger.entries.filter(({ handler }) => handler === 'page')).toHaveLength(1);
    expect(await stateOf(world, id)).toEqual({});
    expect(world.log().filter((line) => line.includes('wanted written is dropped'))).toHaveLength(1);
  });

  it('an interceptor changes nothing of a run, and the log says what is dropped [INT-5]', async () => {
    const world = await booted();
    const on_complete = { handler: 'set_state', params: { key: 'k', value: 1 }, invoke: true };
    const id = await world.start(
      await world.publish([step('a', 'quick')], { interceptors: { on_complete } }),
    );
    await world.untilEnded(id);
    expect(await stateOf(world, id)).toEqual({});
    expect(
      world.log().filter((line) => line.includes('an interceptor wanted written is dropped')),
    ).toHaveLength(1);
  });
});
