import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/sdk/client.ts';
import { sequence } from '../../src/sdk/sequence.ts';
import { defineHandler } from '../../src/sdk/handler.ts';
import { createWorld, START_AT } from './support/world.ts';

const hello = sequence({
  name: 'hello',
  blocks: [
    { type: 'step', id: 'greet', handler: 'transform', params: { text: 'Hello, {{data.name}}!' } },
    {
      type: 'step',
      id: 'approve',
      handler: 'noop',
      wait_for_input: { prompt: 'Send it?', allow_comment: true },
    },
    { type: 'step', id: 'send', handler: 'log', params: { message: '{{outputs.greet.text}}' } },
  ],
});

describe('the sequences of the client', () => {
  it('are published from a draft, with what the author left out filled in', async () => {
    const { clientOf } = createWorld();
    const { sequences } = clientOf({ tenant: 'saltmarsh' });
    const first = await sequences.publish(hello);
    const second = await sequences.publish(hello);
    expect([first.version, second.version]).toEqual([1, 2]);
    expect(await sequences.get(second.id)).toMatchObject({
      id: second.id,
      tenant_id: 'saltmarsh',
      namespace: 'default',
      name: 'hello',
      version: 2,
      created_at: new Date(START_AT).toISOString(),
    });
    expect(await sequences.list({ limit: 1 })).toMatchObject({ items: [{ name: 'hello' }], has_more: true });
  });

  it('keep what the draft says', async () => {
    const { sequences } = createWorld().client;
    const id = '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44';
    const draft = { ...hello, id, version: 7, namespace: 'mail', created_at: '2026-01-01T00:00:00Z' };
    expect(await sequences.publish(draft)).toMatchObject({ id, version: 7 });
    const stored = await sequences.find({ name: 'hello', namespace: 'mail', version: 7 });
    expect(stored).toMatchObject({
      id,
      created_at: '2026-01-01T00:00:00Z',
      blocks: [{ id: 'greet' }, {}, {}],
    });
  });

  it('are deprecated, moved to another status and deleted', async () => {
    const { sequences } = createWorld().client;
    const [first, second] = [await sequences.publish(hello), await sequences.publish(hello)];
    await sequences.deprecate(second.id);
    expect((await sequences.versions({ name: 'hello' })).map(({ version }) => version)).toEqual([1]);
    // Its number is taken all the same.
    expect(await sequences.publish(hello)).toMatchObject({ version: 3 });
    await sequences.setStatus(first.id, 'unpublished');
    expect(await sequences.get(first.id)).toMatchObject({ status: 'unpublished' });
    expect(await sequences.get(second.id)).toMatchObject({ deprecated: true });
    await sequences.delete(second.id);
    await expect(sequences.get(second.id)).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });
});

describe('the instances of the client', () => {
  it('start from the newest version of a name, and once for each idempotency key', async () => {
    const { instances, sequences } = createWorld().client;
    await sequences.publish(hello);
    const { id: newest } = await sequences.publish(hello);
    const start = { sequence_name: 'hello', context: { data: { name: 'Ada' } }, idempotency_key: 'order-17' };
    const { id, deduplicated } = await instances.start(start);
    expect(deduplicated).toBe(false);
    expect(await instances.start(start)).toEqual({ id, deduplicated: true });
    expect(await instances.get(id)).toMatchObject({ sequence_id: newest, idempotency_key: 'order-17' });
    const other = await instances.start({ ...start, context: { data: {} } });
    expect(other).toEqual({ id, deduplicated: true, conflict: true });
  });

  it('start from a version by id or number, alone or in a batch', async () => {
    const { instances, sequences } = createWorld().client;
    const { id: sequence_id } = await sequences.publish(hello);
    await sequences.publish(hello);
    const { id } = await instances.start({ sequence_name: 'hello', version: 1 });
    expect(await instances.get(id)).toMatchObject({ sequence_id });
    const batch = await instances.startBatch([
      { sequence_id },
      { sequence_name: 'hello', metadata: { a: 'b' } },
    ]);
    expect(batch).toEqual({ count: 2 });
    expect((await instances.list({ sequence_id })).items).toHaveLength(2);
    expect((await instances.list({ metadata: { a: 'b' } })).items).toHaveLength(1);
  });

  it('are read, found and explained', async () => {
    const { client, run } = createWorld();
    const { id } = await run(hello, { name: 'Ada' });
    const { instances } = client;
    expect((await instances.list({ state: ['waiting', 'paused'] })).items).toMatchObject([{ id }]);
    expect((await instances.list({ state: 'completed' })).items).toEqual([]);
    expect(await instances.outputs(id)).toMatchObject([
      { block_id: 'greet', output: { text: 'Hello, Ada!' } },
    ]);
    expect((await instances.tree(id)).map(({ state }) => state)).toEqual(['completed', 'waiting', 'pending']);
    expect(await instances.explain(id)).toMatchObject({
      waiting_on: [{ kind: 'gate', block_id: 'approve' }],
    });
    const { diagnoses } = await instances.diagnosis(id);
    expect(diagnoses).toMatchObject([{ code: 'PENDING_APPROVAL', affected_resource: { id: 'approve' } }]);
    const [preview] = await instances.remediations(id);
    expect(preview).toMatchObject({ action: 'manual', finding_code: 'PENDING_APPROVAL' });
    const order = { preview_id: preview?.preview_id ?? '', acknowledge_side_effect_risk: true };
    await expect(instances.applyRemediation(id, order)).rejects.toMatchObject({ code: 'manual_remediation' });
    expect(await instances.wake(id)).toEqual({ woken: [] });
    expect(await instances.signals(id)).toEqual([]);
    expect(await client.limits({ limit: 1 })).toEqual({ concurrency: [], rates: [] });
    expect(await instances.children(id, { limit: 1 })).toEqual([]);
    expect((await instances.audit(id)).map(({ to_state }) => to_state)).toContain('waiting');
    expect(await instances.logs(id)).toEqual([]);
  });

  it('are answered at their gates', async () => {
    const { client, driver, run } = createWorld();
    const { id, assertState, data } = await run(hello, { name: 'Ada' });
    const { items } = await client.approvals.list({ instance_id: id });
    expect(items).toMatchObject([{ block_id: 'approve', prompt: 'Send it?' }]);
    await client.instances.answer(id, 'approve', { value: 'yes', comment: 'go' });
    await driver.settle();
    await assertState('completed');
    expect(await data()).toMatchObject({ approve: 'yes' });
    expect(await client.instances.logs(id)).toMatchObject([{ message: 'Hello, Ada!', block_id: 'send' }]);
  });

  it('take signals, patches and states set by hand', async () => {
    const { client, driver, run } = createWorld();
    const { id, assertState, data } = await run(hello, { name: 'Ada' });
    const { instances } = client;
    const sent = await instances.signal(id, { type: 'parcel-seen', payload: { at: 'gate' } });
    expect(await instances.signal(id, { type: 'parcel-seen', ...sent })).toEqual(sent);
    await instances.patchContext(id, { data: { name: 'Bo' } });
    await instances.patchContext(id, { data: { age: 7 } }, { mode: 'merge' });
    await driver.settle();
    expect(await data()).toEqual({ name: 'Bo', age: 7 });
    await instances.setState(id, { state: 'scheduled', next_fire_at: '2027-02-12T08:00:00Z' });
    expect(await instances.get(id)).toMatchObject({ next_fire_at: '2027-02-12T08:00:00.000Z' });
    await instances.signal(id, { type: 'cancel' });
    await driver.settle();
    await assertState('cancelled');
  });

  it('are retried when they have failed', async () => {
    let failures = 1;
    const flaky = defineHandler(
      'flaky',
      { retry: { max_attempts: 1, initial_backoff: 1, max_backoff: 1 } },
      () => {
        failures -= 1;
        if (failures >= 0) throw new Error('busy');
      },
    );
    const { client, driver, run } = createWorld([flaky]);
    const { id, assertState } = await run({
      name: 'f',
      blocks: [{ type: 'step', id: 'a', handler: 'flaky' }],
    });
    await assertState('failed');
    expect(await client.instances.deadLetters()).toMatchObject([{ id }]);
    expect(await client.instances.retry(id)).toMatchObject({ id });
    await driver.settle();
    await assertState('completed');
    const rows = await client.instances.outputs(id, { include: 'markers' });
    expect(rows.map(({ output_ref }) => output_ref)).toContain(null);
  });
});

describe('the triggers of the client', () => {
  it('are made, fired with their secret, and deleted', async () => {
    const { client, driver } = createWorld();
    const { triggers, instances, sequences } = client;
    await sequences.publish(hello);
    const made = await triggers.create({ slug: 'order in', sequence_name: 'hello', secret: 's3cret' });
    expect(made).toMatchObject({ slug: 'order in', tenant_id: 'default', namespace: 'default' });
    expect(await triggers.list()).toHaveLength(1);
    await expect(triggers.fire('order in', {})).rejects.toMatchObject({ status: 401 });
    const fired = await triggers.fire('order in', { name: 'Ada' }, { secret: 's3cret' });
    await driver.settle();
    expect((await instances.get(fired.instance_id)).context.data).toMatchObject({ name: 'Ada' });
    await triggers.delete('order in');
    await expect(triggers.get('order in')).rejects.toMatchObject({ status: 404 });
  });
});

describe('an ApiError', () => {
  it('carries what the server says', async () => {
    const { client } = createWorld();
    const draft = { ...hello, blocks: [{ type: 'step', id: 'a', handler: '' }] } as never;
    const error: unknown = await client.sequences.publish(draft).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      name: 'ApiError',
      status: 400,
      code: 'invalid_definition',
      details: [{ block_id: 'a' }],
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      repeated: false,
      isPassing: false,
    });
    expect(String(error)).toMatch(/^ApiError: invalid argument: block 'a': /);
  });
});
