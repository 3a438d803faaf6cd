import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { OTHER_TENANT } from '../api/support/api-fixture.ts';
import { document, startBody } from '../api/support/documents.ts';
import { failing, gate, step } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** Starts and keys: scenarios B45, B47, F01 and F03. */
export function describeStarts(stage: Stage): void {
  describe(`starts over ${stage.backend}`, () => {
    it.each([
      ['B45', 50],
      ['F03', 20],
    ])('%s: %i starts at once with one key are one instance', async (_, count) => {
      const [one, two] = [stage.server({ name: 'one' }), stage.server({ name: 'two' })];
      const sequenceId = await stage.publish([gate('ask')]);
      const body = startBody(sequenceId, { idempotency_key: 'order-7' });
      const starts = Array.from({ length: count }, (_unused, n) =>
        (n % 2 === 0 ? one : two).call('POST', '/instances', { body }),
      );
      const replies = await stage.drive(Promise.all(starts));
      expect(new Set(replies.map((reply) => reply.body.id)).size).toBe(1);
      expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(replies.filter((reply) => reply.body.deduplicated === true)).toHaveLength(count - 1);
      expect((await stage.get('/instances')).items).toHaveLength(1);
    });

    const start = (sequenceId: string, extra: JsonObject) =>
      stage.post('/instances', startBody(sequenceId, { idempotency_key: 'k1', ...extra }));

    it('B47: the same key with other data answers with the first one and says so', async () => {
      const sequenceId = await stage.publish([gate('ask')]);
      const id = (await start(sequenceId, { context: { data: { n: 1 } } })).body.id;
      const other = await start(sequenceId, { context: { data: { n: 2 } } });
      expect(other).toMatchObject({ status: 200, body: { id, deduplicated: true, conflict: true } });
      const elsewhere = await start(await stage.publish([step('a')]), { context: { data: { n: 1 } } });
      expect(elsewhere.body).toMatchObject({ id, conflict: true });
      const same = await start(sequenceId, { context: { data: { n: 1 } } });
      expect(same.body).toEqual({ id, deduplicated: true });
      expect((await stage.get(`/instances/${id}`)).context.data).toEqual({ n: 1 });
    });

    it('F01: a key stays that of its first instance, also when it has failed; another tenant has its own', async () => {
      const sequenceId = await stage.publish([failing('a')]);
      const id = (await start(sequenceId, {})).body.id;
      expect((await start(sequenceId, {})).body).toEqual({ id, deduplicated: true });
      await stage.until(id, 'failed');
      expect((await start(sequenceId, {})).body).toEqual({ id, deduplicated: true });
      await stage.post(`/instances/${id}/retry`);
      expect((await start(sequenceId, {})).body).toMatchObject({ id });
      const tenant = OTHER_TENANT;
      const theirs = document({ tenant_id: tenant });
      expect((await stage.call('POST', '/sequences', { body: theirs, tenant })).status).toBe(201);
      const body = startBody(theirs.id, { tenant_id: tenant, idempotency_key: 'k1' });
      const other = await stage.call('POST', '/instances', { body, tenant });
      expect(other.status).toBe(201);
      expect(other.body.id).not.toBe(id);
    });
  });
}
