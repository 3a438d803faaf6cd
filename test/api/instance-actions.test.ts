import { beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, type Body, createFixture, TENANT } from './support/api-fixture.ts';
import { started } from './support/documents.ts';
import { ended, waitingForWorker } from './support/seeded-runs.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

const inbox = async (id: string) => (await api.store.getFrontier(null, id))?.inbox.map(({ fact }) => fact);

describe('POST /instances/{id}/signals', () => {
  const signal = (id: string, body: object) => api.call('POST', `/instances/${id}/signals`, { body });

  it.each([
    ['pause', 'pause'],
    ['resume', 'resume'],
    ['cancel', 'cancel'],
    ['update_context', 'update_context'],
    [{ custom: 'human_input:ask' }, 'custom:human_input:ask'],
    ['custom:go', 'custom:go'],
  ])('stores %j before it answers, and looks at the instance', async (wire, kept) => {
    const id = await started(api);
    const reply = await signal(id, { signal_type: wire, payload: { value: 'yes' } });
    expect(reply.status).toBe(201);
    expect(await inbox(id)).toEqual([{ kind: 'signal', signalType: kept, payload: { value: 'yes' } }]);
    expect(api.runner.nudged).toEqual([{ tenantId: TENANT, instanceId: id }]);
  });

  it.each([null, 0, false, '', []])('keeps the payload %j as it is', async (payload) => {
    const id = await started(api);
    await signal(id, { signal_type: 'custom:go', payload });
    expect(await inbox(id)).toEqual([{ kind: 'signal', signalType: 'custom:go', payload }]);
  });

  it('makes an absent payload null', async () => {
    const id = await started(api);
    await signal(id, { signal_type: 'custom:go' });
    expect(await inbox(id)).toEqual([{ kind: 'signal', signalType: 'custom:go', payload: null }]);
  });

  it.each([
    [{ signal_type: 'paus' }, 422, 'signal_type'],
    [{ signal_type: 'custom' }, 422, 'signal_type'],
    [{ signal_type: { custom: 7 } }, 422, 'signal_type'],
    [{ signal_type: { kustom: 'x' } }, 422, 'signal_type'],
    [{ signal_type: null }, 422, 'signal_type'],
    [{}, 422, 'missing field `signal_type`'],
    [{ signal_type: 'pause', signal_id: 'x' }, 422, 'signal_id'],
    [{ signal_type: { custom: ' ' } }, 400, 'custom signal'],
    [{ signal_type: 'custom:' }, 400, 'custom signal'],
    [{ signal_type: 'custom:x', payload: 'x'.repeat(262_145) }, 413, 'signal payload'],
  ])('refuses %j with %i', async (body, status, fragment) => {
    const id = await started(api);
    const before = await api.footprint();
    const reply = await signal(id, body);
    expect(reply.status).toBe(status);
    expect(reply.body.error).toContain(fragment);
    expect(await api.footprint()).toEqual(before);
  });

  it.each(['completed', 'failed', 'cancelled'] as const)('answers 400 for a %s instance', async (state) => {
    const id = await ended(api, state);
    const reply = await signal(id, { signal_type: 'pause' });
    expect(reply).toMatchObject({ status: 400, body: { code: 'instance_terminal' } });
    expect(reply.body.error).toContain(state);
  });

  it('recognises a repeat by its id and stores it once', async () => {
    const id = await started(api);
    const signalId = nextId();
    const body = { signal_type: 'custom:go', payload: 1, delivery_id: signalId };
    expect(await signal(id, body)).toMatchObject({ status: 201, body: { signal_id: signalId } });
    expect(await signal(id, body)).toMatchObject({ status: 200, body: { signal_id: signalId } });
    expect(await inbox(id)).toHaveLength(1);
  });

  it('still accepts the signal when the instance cannot be looked at', async () => {
    const id = await started(api);
    api.runner.nudge = () => Promise.reject(new Error('no connection'));
    expect(await signal(id, { signal_type: 'pause' })).toMatchObject({ status: 201 });
    expect(api.logged.join()).toContain('no connection');
    expect(await inbox(id)).toHaveLength(1);
  });
});

describe('PATCH /instances/{id}/context', () => {
  const patch = (id: string, body: object, query = '') =>
    api.call('PATCH', `/instances/${id}/context${query}`, { body });

  it('hands the sections that were given to the instance', async () => {
    const id = await started(api);
    const context = { data: { a: null }, runtime: { attempt: 9 }, other: 1 };
    expect(await patch(id, { context })).toMatchObject({ status: 200, text: '' });
    expect(await inbox(id)).toEqual([{ kind: 'context', sections: { data: { a: null } }, mode: 'replace' }]);
    await patch(id, { context: { config: { b: 1 }, audit: [{}] } }, '?mode=merge');
    expect((await inbox(id))?.[1]).toEqual({
      kind: 'context',
      sections: { config: { b: 1 }, audit: [{}] },
      mode: 'merge',
    });
  });

  it('changes an ended instance at once', async () => {
    const id = await ended(api, 'completed');
    expect((await patch(id, { context: { data: { a: 1 } } })).status).toBe(200);
    expect((await patch(id, { context: { data: { b: 2 } } }, '?mode=merge')).status).toBe(200);
    const { data, config } = (await api.call('GET', `/instances/${id}`)).body.context;
    expect([data, config]).toEqual([{ a: 1, b: 2 }, {}]);
  });

  it.each([
    [{}, '', 422, 'missing field `context`'],
    [{ context: null }, '', 422, 'context'],
    [{ context: [] }, '', 422, 'context'],
    [{ context: { config: 1 } }, '', 422, 'config'],
    [{ context: { audit: {} } }, '', 422, 'audit'],
    [{ context: {} }, '?mode=other', 400, 'mode'],
    [{ context: { data: 'x'.repeat(262_144) } }, '', 413, 'context too large'],
  ])('refuses %j%s', async (body, query, status, fragment) => {
    const id = await started(api);
    const before = await api.footprint();
    const reply = await patch(id, body, query);
    expect(reply.status).toBe(status);
    expect(reply.body.error).toContain(fragment);
    expect(await api.footprint()).toEqual(before);
  });
});

describe('PATCH /instances/{id}/state', () => {
  const patch = (id: string, body: object) => api.call('PATCH', `/instances/${id}/state`, { body });

  it('answers 200 without body when the transition is legal [INS-12]', async () => {
    const id = await started(api);
    expect(await patch(id, { state: 'paused' })).toMatchObject({ status: 200, text: '' });
    expect(await patch(id, { state: 'cancelled', next_fire_at: '2027-03-01T00:00:00Z' })).toMatchObject({
      status: 200,
    });
  });

  it('names both states when it is not [INS-12]', async () => {
    const reply = await patch((await waitingForWorker(api)).id, { state: 'paused' });
    expect(reply).toMatchObject({ status: 400, body: { code: 'illegal_transition' } });
    expect(reply.body.error).toContain('waiting');
    expect(reply.body.error).toContain('paused');
  });

  it('answers 422 for an unknown state or a bad time', async () => {
    const id = await started(api);
    expect((await patch(id, { state: 'done' })).status).toBe(422);
    expect((await patch(id, {})).status).toBe(422);
    expect((await patch(id, { state: 'scheduled', next_fire_at: 'soon' })).status).toBe(422);
  });

  it('answers 409 when a turn does not let go', async () => {
    const id = await started(api);
    api.runner.answer = { status: 'busy' };
    expect(await patch(id, { state: 'paused' })).toMatchObject({
      status: 409,
      body: { code: 'instance_busy' },
    });
  });
});

describe('POST /instances/{id}/retry', () => {
  it('puts a failed instance back to work, with an empty body or none', async () => {
    const id = await ended(api, 'failed');
    expect(await api.call('POST', `/instances/${id}/retry`, { body: {} })).toMatchObject({
      status: 200,
      body: { id, state: 'scheduled' },
    });
    expect(await api.call('POST', `/instances/${id}/retry`)).toMatchObject({ status: 200 });
  });

  it('answers 400 from any other state', async () => {
    for (const id of [await started(api), await ended(api, 'completed'), await ended(api, 'cancelled')]) {
      expect(await api.call('POST', `/instances/${id}/retry`)).toMatchObject({ status: 400 });
    }
  });
});

describe('what an ended instance shows', () => {
  it('lists the rows of failed tries only when asked', async () => {
    const id = await ended(api, 'failed');
    const plain = (await api.call('GET', `/instances/${id}/outputs`)).body;
    expect(plain.map((row: Body) => row.output_ref)).toEqual(['__error__']);
    expect(plain[0].output.message).toBe('upstream answered 503');
    const all = (await api.call('GET', `/instances/${id}/outputs?include=markers`)).body;
    expect(all.map((row: Body) => row.output_ref)).toEqual(['__retry__', '__error__']);
  });

  it('shows transitions and rows in the timeline', async () => {
    const id = await ended(api, 'failed');
    const { body } = await api.call('GET', `/instances/${id}/timeline?limit=1`);
    expect(body.state_transitions).toMatchObject([{ from_state: 'running', to_state: 'failed' }]);
    expect(body.entries).toMatchObject([{ block_id: 'first', is_sentinel: true, output_ref: '__retry__' }]);
    expect(body.has_more).toBe(true);
  });

  it('is a dead letter when it failed', async () => {
    const id = await ended(api, 'failed');
    await ended(api, 'completed');
    const letters = (await api.call('GET', '/instances/dlq')).body;
    expect(letters.map((letter: Body) => letter.id)).toEqual([id]);
    expect((await api.call('GET', '/instances/dlq', { tenant: 'dunes' })).body).toEqual([]);
  });

  it('shows the audit entries newest first', async () => {
    const id = await ended(api, 'completed');
    const { body } = await api.call('GET', `/instances/${id}/audit`);
    expect(body).toMatchObject([
      { event_type: 'state_transition', from_state: 'running', to_state: 'completed' },
    ]);
    expect(body[0]).not.toHaveProperty('block_id');
  });
});
