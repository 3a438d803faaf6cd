import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';
import { readEvents } from './support/read-events.ts';

const STREAM_MAX_MS = 40_000;

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
const nap = (id: string, ms: number): JsonObject =>
  step(id, { handler: 'sleep', params: { duration_ms: ms } });

describe('streams', () => {
  const backend = useBackend('memory');
  let api: LiveApi;
  afterEach(async () => {
    await api.stop();
  });

  const open = async (settings: { maxStreams?: number } = {}): Promise<void> => {
    api = createLiveApi(await backend.fresh(), { streamMaxMs: STREAM_MAX_MS, ...settings });
  };
  const start = async (blocks: readonly JsonObject[]): Promise<string> => {
    const sequenceId = await published(api as never, { name: `s-${nextId()}`, blocks });
    return (await api.call('POST', '/instances', { body: startBody(sequenceId) })).body.id;
  };
  const stream = async (path: string, headers: Record<string, string> = {}) => {
    const reply = await api.send('GET', `/api/v1${path}`, { headers });
    return { ...reply, events: reply.status === 200 ? readEvents(reply.text) : [] };
  };

  it('tell the states of an instance, its rows once each, and end with done', async () => {
    await open();
    const id = await start([step('first'), nap('rest', 5000), step('last')]);
    const { events, headers } = await stream(`/instances/${id}/stream`);
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(events.filter(({ event }) => event === 'output').map(({ data }) => data.block_id)).toEqual([
      'first',
      'rest',
      'last',
    ]);
    expect(events.filter(({ event }) => event === 'state').map(({ data }) => data.state)).toEqual([
      'running',
      'completed',
    ]);
    expect(events.at(-1)).toMatchObject({ event: 'done', data: { state: 'completed' } });
  });

  it('go on behind the last row that a client has seen', async () => {
    await open();
    const id = await start([step('first'), step('second'), step('third')]);
    await api.until(id, 'completed');
    const whole = await stream(`/instances/${id}/stream`);
    const second = whole.events.find(({ data }) => data.block_id === 'second');
    const rest = await stream(`/instances/${id}/stream`, { 'last-event-id': second?.id ?? '' });
    expect(rest.events.map(({ event, data }) => data.block_id ?? event)).toEqual(['third', 'state', 'done']);
    const odd = await stream(`/instances/${id}/stream`, { 'last-event-id': 'x' });
    expect(odd.events).toEqual(whole.events);
  });

  it('tell each node when it changes, where they are asked for', async () => {
    await open();
    const id = await start([nap('rest', 2000), step('last')]);
    const { events } = await stream(`/instances/${id}/stream?include=nodes`);
    const nodes = events
      .filter(({ event }) => event === 'node')
      .map(({ data }) => [data.block_id, data.state]);
    expect(nodes).toEqual(
      expect.arrayContaining([
        ['rest', 'running'],
        ['last', 'pending'],
        ['rest', 'completed'],
        ['last', 'completed'],
      ]),
    );
    expect(new Set(nodes.map(String)).size).toBe(nodes.length);
  });

  it('stay alive with comments and end at the limit of the host, so that clients come back', async () => {
    await open();
    const id = await start([nap('rest', 600_000)]);
    const { text, events } = await stream(`/instances/${id}/stream`);
    expect(text.match(/^: still here$/gm)).toHaveLength(2);
    expect(events.map(({ event }) => event)).toEqual(['state']);
  });

  it('are 404 for an unknown instance, and refused above the limit', async () => {
    await open({ maxStreams: 0 });
    const id = await start([step('first')]);
    expect((await stream(`/instances/${nextId()}/stream`)).status).toBe(404);
    expect(await stream(`/instances/${id}/stream`)).toMatchObject({
      status: 503,
      body: { code: 'too_many_streams' },
    });
    expect(await stream('/changes/stream')).toMatchObject({
      status: 429,
      body: { code: 'too_many_streams' },
    });
  });

  it('answer HEAD with their head, and hold no place for it', async () => {
    await open({ maxStreams: 1 });
    const id = await start([step('first')]);
    await api.until(id, 'completed');
    for (const path of [`/instances/${id}/stream`, '/changes/stream']) {
      for (const _time of [1, 2, 3]) {
        const head = await api.send('HEAD', `/api/v1${path}`);
        expect([head.status, head.text]).toEqual([200, '']);
        expect(head.headers.get('content-type')).toBe('text/event-stream');
      }
      expect((await stream(path)).status).toBe(200);
    }
  });

  it('tell the changes of a tenant, old and new, each with a cursor that /changes takes', async () => {
    await open();
    const id = await start([nap('rest', 3000)]);
    const { events } = await stream('/changes/stream');
    expect(events.map(({ data }) => [data.instance_id, data.to_state])).toEqual([[id, 'completed']]);
    const [change] = events;
    const page = await api.call('GET', '/changes');
    expect(page.body).toEqual({ changes: [change?.data], next_cursor: change?.id, has_more: false });
    expect((await api.call('GET', `/changes?cursor=${change?.id}`)).body).toEqual({
      changes: [],
      has_more: false,
    });
    expect((await stream('/changes/stream', { 'last-event-id': change?.id ?? '' })).events).toEqual([]);
  });

  it('tell another tenant nothing, whatever tenant it asks for', async () => {
    await open();
    await start([nap('rest', 3000)]);
    const reply = await api.send('GET', `/api/v1/changes/stream?tenant_id=${TENANT}`, {
      tenant: OTHER_TENANT,
    });
    expect([reply.status, readEvents(reply.text)]).toEqual([200, []]);
  });
});

describe('the changes of a tenant', () => {
  const backend = useBackend('memory');

  it('need a tenant and a cursor that is one', async () => {
    const api = createLiveApi(await backend.fresh(), { requireTenantHeader: false });
    expect(await api.call('GET', '/changes', { tenant: null })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('tenant scope is required') },
    });
    for (const cursor of ['x', 'e30', btoa('{"created_at":"2027-02-11T08:00:00.000Z","id":"x"}')]) {
      expect(await api.call('GET', `/changes?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('malformed change cursor') },
      });
    }
    await api.stop();
  });
});
