import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, member } from '../../src/core/json.ts';
import { step } from './support/blocks.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const GATE = { wait_for_input: { prompt: 'Go on?' } };

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

describe('emit_event (handlers.md 6.1, http-api.md 12.4)', () => {
  async function target(
    world: TestEngine,
    blocks: Json,
    overrides: JsonObject = {},
    members: JsonObject = {},
  ) {
    const sequenceId = await world.publish(blocks, members);
    const sequence = await world.store.getSequence(TENANT, sequenceId);
    await world.store.insertTrigger({
      slug: 'orders',
      tenantId: TENANT,
      namespace: 'fulfilment',
      sequenceName: sequence?.name ?? '',
      version: null,
      enabled: true,
      secret: null,
      triggerType: 'event',
      config: null,
      ...overrides,
    });
    return sequence?.name ?? '';
  }
  const emit = (params: JsonObject, id = 'emit') =>
    step(id, 'emit_event', { params: { trigger_slug: 'orders', ...params } });
  async function run(world: TestEngine, blocks: Json, options: object = {}) {
    const id = await world.start(await world.publish(blocks), options);
    return { id, ended: await world.untilEnded(id), outputs: await world.outputs(id) };
  }
  const idIn = (output: Json | undefined): string => {
    const id = member(output, 'instance_id');
    return typeof id === 'string' ? id : '';
  };

  it('starts an instance that hangs on nobody and carries where it comes from [EMIT-1] [EMIT-3]', async () => {
    const world = await booted();
    const name = await target(world, [step('work', 'noop')]);
    const meta = { source: 'forged', parent_instance_id: 'forged', order: 7 };
    const { id, outputs } = await run(world, [emit({ data: { order: 7 }, meta })]);
    expect(outputs).toEqual({
      emit: { instance_id: expect.any(String), sequence_name: name, deduped: false },
    });
    const child = await world.untilEnded(idIn(outputs['emit']), 1000);
    expect(child).toMatchObject({
      state: 'completed',
      data: { order: 7 },
      parent: null,
      metadata: {
        _trigger: 'orders',
        _trigger_type: 'event',
        _trigger_event: { order: 7, source: 'emit_event', parent_instance_id: id },
      },
    });
    expect(await world.store.listChildren(TENANT, id)).toEqual([]);
  });

  it('meta that is no object is kept as user_meta, data defaults to {} [EMIT-1]', async () => {
    const world = await booted();
    await target(world, [step('work', 'noop')]);
    const { outputs } = await run(world, [emit({ meta: 'by hand' })]);
    const child = await world.view(idIn(outputs['emit']));
    expect(child).toMatchObject({ data: {}, metadata: { _trigger_event: { user_meta: 'by hand' } } });
  });

  it('a cancel of the emitter does not reach what it started, whose failure does not reach it [EMIT-1]', async () => {
    const world = await booted();
    await target(world, [step('work', 'noop', GATE), step('fail', 'fail')]);
    const emitter = await world.start(await world.publish([emit({}), step('ask', 'noop', GATE)]));
    await world.untilState(emitter, 'waiting');
    const child = idIn((await world.outputs(emitter))['emit']);
    await world.signal(emitter, 'cancel');
    await world.untilState(emitter, 'cancelled');
    expect(await world.view(child)).toMatchObject({ state: 'waiting', cancelRequestedAt: null });
  });

  it('a dedupe key starts one instance per scope: this run or the tenant [EMIT-2]', async () => {
    const world = await booted();
    await target(world, [step('work', 'noop')]);
    const twice = [emit({ dedupe_key: 'k' }, 'one'), emit({ dedupe_key: 'k' }, 'two')];
    const first = await run(world, twice);
    expect(first.outputs['two']).toEqual({ ...(first.outputs['one'] as JsonObject), deduped: true });
    const second = await run(world, twice);
    expect(idIn(second.outputs['one'])).not.toBe(idIn(first.outputs['one']));
    const wide = { dedupe_key: 'k', dedupe_scope: 'tenant' };
    const third = await run(world, [emit(wide)]);
    const fourth = await run(world, [emit(wide)]);
    expect(fourth.outputs['emit']).toEqual({ ...(third.outputs['emit'] as JsonObject), deduped: true });
  });

  it('runs that emit one key of the tenant side by side start one instance [EMIT-2]', async () => {
    const world = await booted();
    await target(world, [step('work', 'noop')]);
    const sequenceId = await world.publish([emit({ dedupe_key: 'k', dedupe_scope: 'tenant' })]);
    const ids = await Promise.all(Array.from({ length: 8 }, () => world.start(sequenceId)));
    const started = new Set<string>();
    for (const id of ids) {
      expect(await world.untilEnded(id)).toMatchObject({ state: 'completed' });
      started.add(idIn((await world.outputs(id))['emit']));
    }
    expect(started.size).toBe(1);
  });

  it.each<readonly [string, JsonObject, string]>([
    ['an unknown slug', { trigger_slug: 'nobody' }, 'TARGET_NOT_FOUND'],
    ['an empty key', { dedupe_key: '' }, 'INVALID_PARAMS'],
    ['a key that is no text', { dedupe_key: 7 }, 'INVALID_PARAMS'],
    ['a bad scope', { dedupe_key: 'k', dedupe_scope: 'world' }, 'INVALID_PARAMS'],
    ['an empty slug', { trigger_slug: '' }, 'INVALID_PARAMS'],
    ['data that breaks the input_schema', { data: { n: 'x' } }, 'INPUT_CONTRACT_VIOLATION'],
    ['data larger than a context', { data: { n: 1, text: 'x'.repeat(262_144) } }, 'CONTEXT_TOO_LARGE'],
  ])('%s fails the step permanently [EMIT-4]', async (_, params, code) => {
    const world = await booted();
    const input_schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    await target(world, [step('work', 'noop')], {}, { input_schema });
    expect(await failureOf(world, [emit({ data: { n: 1 }, ...params })])).toMatchObject({
      code,
      retryable: false,
    });
  });

  it.each<readonly [string, JsonObject, string]>([
    ['a disabled trigger', { enabled: false }, 'TRIGGER_DISABLED'],
    ['a trigger of another tenant', { tenantId: 'other' }, 'TARGET_NOT_FOUND'],
    ['a webhook trigger', { triggerType: 'webhook' }, 'INVALID_PARAMS'],
    ['a trigger whose sequence is gone', { sequenceName: 'gone' }, 'SEQUENCE_NOT_FOUND'],
  ])('%s starts nothing [EMIT-4]', async (_, overrides, code) => {
    const world = await booted();
    await target(world, [step('work', 'noop')], overrides);
    expect(await failureOf(world, [emit({})])).toMatchObject({ code, retryable: false });
  });

  it('events that start each other end after 64 [EMIT-4]', async () => {
    const world = await booted();
    await target(world, [emit({})]);
    await run(world, [emit({})]);
    await world.time.pass(60_000);
    const query = {
      tenantId: TENANT,
      namespace: null,
      sequenceId: null,
      metadata: [],
      limit: 200,
      offset: 0,
    };
    const failed = await world.store.listInstances({ ...query, states: ['failed'] });
    expect(failed.map(({ failure }) => failure?.error['code'])).toEqual(['DEPTH_EXCEEDED']);
    expect(await world.store.listInstances({ ...query, states: ['completed'] })).toHaveLength(64);
  });

  it('a dry run checks the trigger and starts nothing [EMIT-5]', async () => {
    const world = await booted();
    const name = await target(world, [step('work', 'noop')]);
    const { outputs } = await run(world, [emit({})], { dryRun: true });
    expect(outputs).toEqual({
      emit: {
        dry_run: true,
        handler: 'emit_event',
        would: { trigger_slug: 'orders', sequence_name: name },
        instance_id: null,
        sequence_name: name,
        deduped: false,
      },
    });
    const bad = await run(world, [emit({ trigger_slug: 'nobody' })], { dryRun: true });
    expect(bad.ended).toMatchObject({ state: 'failed' });
  });
});
