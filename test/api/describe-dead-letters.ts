import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

const guard = { type: 'step', id: 'guard', handler: 'assert', params: { condition: 'data.ok' } };

/** Registers the tests of the groups of dead letters over one kind of store. */
export function describeDeadLetters(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let api: LiveApi;
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  const publish = (blocks: readonly JsonObject[], name: string) => published(api as never, { name, blocks });
  const failedRun = async (sequenceId: string, data: JsonObject = {}): Promise<string> => {
    const reply = await api.call('POST', '/instances', {
      body: startBody(sequenceId, { context: { data } }),
    });
    await api.until(reply.body.id, 'failed');
    return reply.body.id;
  };
  const groups = async (query = '') => (await api.call('GET', `/instances/dlq/groups${query}`)).body;
  const retryGroup = (fingerprint: string, body: JsonObject) =>
    api.call('POST', `/instances/dlq/groups/${fingerprint}/retry`, { body });
  const fix = (id: string) =>
    api.call('PATCH', `/instances/${id}/context?mode=merge`, { body: { context: { data: { ok: true } } } });

  describe('groups of dead letters', () => {
    it('put failures of the same kind together, the largest group first', async () => {
      const guarded = await publish([guard], 'guarded');
      const angry = {
        type: 'step',
        id: 'angry',
        handler: 'fail',
        params: { message: 'order {{data.n}} refused' },
      };
      const failing = await publish([angry], 'failing');
      await failedRun(guarded);
      const [first, second] = [await failedRun(failing, { n: 1 }), await failedRun(failing, { n: 2 })];
      const [largest, other] = await groups();
      expect(largest).toMatchObject({
        count: 2,
        error_class: 'application',
        error_code: 'unknown',
        sequences: ['failing'],
        blocks: ['angry'],
        handlers: ['fail'],
        sample_message: 'order 2 refused',
        sample_instance_ids: [second, first],
      });
      expect(largest.components.at(-1)).toBe('msg:order <n> refused');
      expect(other).toMatchObject({ count: 1, blocks: ['guard'] });
      expect(await groups(`?sequence_id=${guarded}`)).toEqual([other]);
      const [letter, older] = (await api.call('GET', '/instances/dlq')).body;
      expect([largest.first_occurrence, largest.last_occurrence]).toEqual([
        older.failed_at,
        letter.failed_at,
      ]);
      expect(letter).toMatchObject({
        id: second,
        failed_block_id: 'angry',
        error: { message: 'order 2 refused' },
        fingerprint: largest.fingerprint,
      });
    });

    it('are empty for another tenant, and unknown to it', async () => {
      await failedRun(await publish([guard], 'guarded'));
      const [group] = await groups();
      expect((await api.call('GET', '/instances/dlq/groups', { tenant: 'dunes' })).body).toEqual([]);
      const reply = await api.call('POST', `/instances/dlq/groups/${group.fingerprint}/retry`, {
        tenant: 'dunes',
        body: { mode: 'bulk', force: true },
      });
      expect(reply).toMatchObject({ status: 404, body: { code: 'not_found' } });
    });

    it('are retried as a whole only after a sample has gone well', async () => {
      const sequenceId = await publish([guard], 'guarded');
      const ids = [await failedRun(sequenceId), await failedRun(sequenceId), await failedRun(sequenceId)];
      const [{ fingerprint }] = await groups();
      expect(await retryGroup(fingerprint, { mode: 'bulk' })).toMatchObject({
        status: 409,
        body: { code: 'bulk_retry_locked' },
      });
      for (const id of ids) await fix(id);
      const [newest] = (await api.call('GET', '/instances/dlq')).body;
      const sample = await retryGroup(fingerprint, { mode: 'sample' });
      expect(sample.body).toEqual({ fingerprint, mode: 'sample', retried: [newest.id], skipped: 0 });
      const verified = await api.until(newest.id, 'completed');
      expect(verified.metadata).toEqual({ dlq_sample_retry: fingerprint });
      const unlocked = { mode: 'bulk', sample_verified_instance_id: newest.id, limit: 1 };
      expect((await retryGroup(fingerprint, unlocked)).body.retried).toHaveLength(1);
      expect((await retryGroup(fingerprint, { mode: 'bulk', force: true })).body.retried).toHaveLength(1);
      for (const id of ids) await api.until(id, 'completed');
      expect((await retryGroup(fingerprint, { mode: 'sample' })).status).toBe(404);
    });

    it('refuse an unknown mode and an unknown fingerprint', async () => {
      expect((await retryGroup(nextId(), { mode: 'all' })).status).toBe(422);
      expect((await retryGroup(nextId(), { mode: 'sample' })).status).toBe(404);
    });
  });
}
