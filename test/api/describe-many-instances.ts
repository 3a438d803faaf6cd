import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type Body, OTHER_TENANT, type Reply, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

const LATER = '2027-02-12T08:00:00.000Z';

/** Registers the tests of bulk changes and batches over one kind of store. */
export function describeManyInstances(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let api: LiveApi;
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  async function start(blocks: readonly JsonObject[], overrides: JsonObject = {}): Promise<string> {
    const sequenceId = await published(api as never, { name: `s-${nextId()}`, blocks });
    const reply = await api.call('POST', '/instances', { body: startBody(sequenceId, overrides) });
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.body.id as string;
  }

  const noop = { type: 'step', id: 'a', handler: 'noop' };
  const later = (overrides: JsonObject = {}): Promise<string> =>
    start([noop], { next_fire_at: LATER, ...overrides });
  const asking = { type: 'step', id: 'ask', handler: 'noop', wait_for_input: { prompt: 'Go?' } };
  const failing = { type: 'step', id: 'bad', handler: 'fail', params: { message: 'no' } };

  async function waiting(): Promise<string> {
    const id = await start([asking]);
    await api.until(id, 'waiting');
    return id;
  }

  async function failed(): Promise<string> {
    const id = await start([failing]);
    await api.until(id, 'failed');
    return id;
  }

  const get = async (id: string): Promise<Body> => (await api.call('GET', `/instances/${id}`)).body;
  const stateOf = async (id: string): Promise<string> => (await get(id)).state;
  const bulkState = (filter: JsonObject, state: string): Promise<Reply> =>
    api.call('PATCH', '/instances/bulk/state', { body: { filter, state } });
  const reschedule = (filter: JsonObject, offset: number): Promise<Reply> =>
    api.call('PATCH', '/instances/bulk/reschedule', { body: { filter, offset_secs: offset } });
  const act = (body: JsonObject): Promise<Reply> =>
    api.call('POST', '/instances/batch-action', { body: { filter: {}, ...body } });

  describe(`bulk changes over ${backendName}`, () => {
    it('make each legal transition and leave the others out (20.7)', async () => {
      const [one, two] = [await later(), await later()];
      const [gate, bad] = [await waiting(), await failed()];
      expect((await bulkState({}, 'paused')).body).toEqual({ count: 2 });
      expect([await stateOf(one), await stateOf(two), await stateOf(gate)]).toEqual([
        'paused',
        'paused',
        'waiting',
      ]);
      expect((await bulkState({}, 'paused')).body).toEqual({ count: 0 });
      expect((await bulkState({ states: ['paused'] }, 'scheduled')).body).toEqual({ count: 2 });
      expect((await bulkState({}, 'cancelled')).body.count).toBeGreaterThanOrEqual(1);
      expect(await stateOf(gate)).toBe('cancelled');
      expect(await stateOf(bad)).toBe('failed');
      expect((await bulkState({}, 'completed')).body).toEqual({ count: 0 });
    });

    it('reach what the filter names', async () => {
      const [one, two] = [
        await later({ metadata: { depot: 'north' } }),
        await later({ namespace: 'billing' }),
      ];
      expect((await bulkState({ metadata: { depot: 'north' } }, 'paused')).body).toEqual({ count: 1 });
      expect((await bulkState({ namespace: 'billing', states: [] }, 'cancelled')).body).toEqual({ count: 1 });
      expect([await stateOf(one), await stateOf(two)]).toEqual(['paused', 'cancelled']);
      const { sequence_id: sequenceId } = await get(one);
      expect((await bulkState({ sequence_id: sequenceId }, 'cancelled')).body).toEqual({ count: 1 });
      expect((await bulkState({ tenant_id: OTHER_TENANT }, 'cancelled')).body).toEqual({ count: 0 });
    });

    it('of shape and tenant are checked first', async () => {
      expect((await bulkState({}, 'asleep')).status).toBe(422);
      expect((await api.call('PATCH', '/instances/bulk/state', { body: { state: 'paused' } })).status).toBe(
        422,
      );
      const noOffset = await api.call('PATCH', '/instances/bulk/reschedule', { body: { filter: {} } });
      expect(noOffset.body.error).toContain('missing field `offset_secs`');
      expect((await reschedule({}, 0.5)).status).toBe(422);
      expect((await bulkState({ states: ['nope'] }, 'paused')).status).toBe(422);
    });

    it('move the time of scheduled instances alone, forward and back (12.5)', async () => {
      const [one, gate] = [await later(), await waiting()];
      expect((await reschedule({}, 3600)).body).toEqual({ count: 1 });
      expect((await get(one)).next_fire_at).toBe('2027-02-12T09:00:00.000Z');
      expect((await reschedule({}, -7200)).body).toEqual({ count: 1 });
      expect((await get(one)).next_fire_at).toBe('2027-02-12T07:00:00.000Z');
      expect(await stateOf(gate)).toBe('waiting');
      expect((await reschedule({ states: ['waiting'] }, 60)).body).toEqual({ count: 0 });
      expect((await reschedule({}, -90_000)).body).toEqual({ count: 1 });
      expect((await api.until(one, 'completed')).state).toBe('completed');
    });

    it('move the delay of a step along with its instance (12.5)', async () => {
      const id = await start([noop, { ...noop, id: 'b', delay: { duration: 3_600_000 } }]);
      await api.until(id, 'scheduled');
      await api.time.pass(1_000);
      expect((await get(id)).next_fire_at).toBe('2027-02-11T09:00:00.000Z');
      await reschedule({}, 3600);
      await api.time.pass(3_700_000);
      expect(await get(id)).toMatchObject({ state: 'scheduled', next_fire_at: '2027-02-11T10:00:00.000Z' });
      await api.call('POST', `/instances/${id}/signals`, { body: { signal_type: { custom: 'poke' } } });
      await api.time.pass(1_000);
      expect(await stateOf(id)).toBe('scheduled');
      await reschedule({}, -3600);
      await api.until(id, 'completed');
      expect(api.time.now).toBeLessThan(Date.parse('2027-02-11T09:10:00Z'));
    });
  });

  describe(`batch actions over ${backendName}`, () => {
    const zero = { matched: 0, applied: 0, skipped: 0, failed: 0, dry_run: false };

    it('send signals that take effect, and skip what has ended (20.7)', async () => {
      const [one, two, bad] = [await later(), await later(), await failed()];
      expect((await act({ action: 'pause' })).body).toEqual({ ...zero, matched: 3, applied: 2, skipped: 1 });
      await api.time.pass(100);
      expect([await stateOf(one), await stateOf(two)]).toEqual(['paused', 'paused']);
      expect((await act({ action: 'resume', filter: { states: ['paused'] } })).body.applied).toBe(2);
      await api.until(one, 'completed');
      expect(await stateOf(bad)).toBe('failed');
    });

    it('answer gates by a signal of any name', async () => {
      const [one, two] = [await waiting(), await waiting()];
      const answer = { action: 'signal', signal_type: 'human_input:ask', payload: { value: 'yes' } };
      expect((await act(answer)).body).toEqual({ ...zero, matched: 2, applied: 2 });
      for (const id of [one, two])
        expect((await api.until(id, 'completed')).context.data).toEqual({ ask: 'yes' });
    });

    it('retry failed instances and skip the others', async () => {
      const [bad, gate] = [await failed(), await waiting()];
      expect((await act({ action: 'retry' })).body).toEqual({ ...zero, matched: 2, applied: 1, skipped: 1 });
      await api.until(bad, 'failed');
      expect((await api.call('GET', `/instances/${bad}/audit`)).body).toContainEqual(
        expect.objectContaining({ event_type: 'batch_action', from_state: 'failed' }),
      );
      expect(await stateOf(gate)).toBe('waiting');
    });

    it('write one audit entry for each instance they act on [AUD-1]', async () => {
      const [id, bad] = [await later(), await failed()];
      await act({ action: 'cancel' });
      await api.until(id, 'cancelled');
      const events = async (of: string): Promise<readonly string[]> =>
        (await api.call('GET', `/instances/${of}/audit`)).body.map((entry: Body) => entry.event_type);
      expect((await events(id)).filter((event) => event === 'batch_action')).toHaveLength(1);
      expect(await events(bad)).not.toContain('batch_action');
    });

    it('only count in a dry run, and take no more than the limit, longest untouched first', async () => {
      const [one, two] = [await later(), await later()];
      const dry = await act({ action: 'cancel', dry_run: true });
      expect(dry.body).toEqual({ ...zero, matched: 2, dry_run: true });
      expect((await act({ action: 'cancel', limit: 1 })).body).toEqual({ ...zero, matched: 1, applied: 1 });
      await api.until(one, 'cancelled');
      expect(await stateOf(two)).toBe('scheduled');
      expect((await act({ action: 'cancel', limit: 0, dry_run: true })).body.matched).toBe(1);
      expect((await act({ action: 'cancel', limit: 99_999, dry_run: true })).body.matched).toBe(2);
    });

    it('check action, name, payload and tenant', async () => {
      expect((await act({ action: 'explode' })).status).toBe(422);
      expect((await act({ action: 'signal' })).status).toBe(400);
      expect((await act({ action: 'signal', signal_type: ' ' })).status).toBe(400);
      expect((await act({ action: 'signal', signal_type: 'x', payload: 'x'.repeat(262_145) })).status).toBe(
        413,
      );
      expect((await api.call('POST', '/instances/batch-action', { body: { action: 'pause' } })).status).toBe(
        422,
      );
      expect((await act({ action: 'pause', filter: { tenant_id: OTHER_TENANT } })).body).toEqual(zero);
      expect(TENANT).not.toBe(OTHER_TENANT);
    });

    it('act on a thousand instances in bounded pieces', async () => {
      const sequenceId = await published(api as never, { name: 'many', blocks: [noop] });
      const instances = Array.from({ length: 1_000 }, () => startBody(sequenceId, { next_fire_at: LATER }));
      await api.call('POST', '/instances/batch', { body: { instances } });
      expect((await act({ action: 'signal', signal_type: 'poke' })).body).toEqual({
        ...zero,
        matched: 1000,
        applied: 1000,
      });
      await api.time.pass(1_000);
      expect((await bulkState({ states: ['scheduled'] }, 'paused')).body).toEqual({ count: 1000 });
    });
  });
}
