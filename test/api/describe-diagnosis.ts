import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type Body, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import type { BackendName } from './support/backends.ts';
import { createLiveApi } from './support/live-api.ts';
import { wholeReads } from '../support/whole-reads.ts';
import { at, HOUR, NOWHERE, step, useStandingRuns } from './support/standing-runs.ts';

/** Registers what people ask of a run that stands, and what the answers offer, over one kind of store. */
export function describeDiagnosis(backendName: BackendName): void {
  const runs = useStandingRuns(backendName);
  const { get, post, publish, start, run, codes } = runs;

  describe('GET /instances/{id}/diagnosis', () => {
    it('shows a gate as the contract does [API 7.1]', async () => {
      const id = await run(step('ask', { wait_for_input: { prompt: 'Refund?', timeout: 5 * HOUR } }));
      await runs.api.until(id, 'waiting');
      const [{ started_at: since }] = await get(`/instances/${id}/tree`);
      const shown = await get(`/instances/${id}/diagnosis`);
      const now = shown.generated_at;
      expect(shown).toEqual({
        instance_id: id,
        state: 'waiting',
        diagnoses: [
          {
            category: 'direct_evidence',
            health: 'expected',
            code: 'PENDING_APPROVAL',
            severity: 'info',
            summary: "step 'ask' waits for a human answer",
            evidence: [
              { label: 'waiting_since', summary: since },
              { label: 'times_out_at', summary: at(Date.parse(since) + 5 * HOUR) },
            ],
            affected_resource: { kind: 'block', id: 'ask' },
            remediation: [
              {
                summary: 'send one of the choices',
                command: `orch8 signal ${id} custom:human_input:ask '{"value":"yes"}'`,
                side_effect_risk: true,
              },
            ],
            confidence: 'certain',
            observed_at: now,
          },
        ],
        generated_at: now,
      });
    });

    it('is 404 for an unknown instance and one of another tenant, 400 for a bad id [API 7.1]', async () => {
      const id = await run(step('a'));
      expect((await runs.api.call('GET', `/instances/${NOWHERE}/diagnosis`)).status).toBe(404);
      expect(
        (await runs.api.call('GET', `/instances/${id}/diagnosis`, { tenant: OTHER_TENANT })).status,
      ).toBe(404);
      expect((await runs.api.call('GET', '/instances/no-uuid/diagnosis')).status).toBe(400);
    });

    it('tells a task apart by who polls for it', async () => {
      const id = await run(step('lookup', { handler: 'parcel_lookup' }));
      await runs.api.until(id, 'waiting');
      expect(await codes(id)).toEqual(['NO_COMPATIBLE_WORKER']);
      const poll = { handler_name: 'parcel_lookup', worker_id: 'w-1', version: '1.9.4', limit: 0 };
      const pin = { tenant_id: TENANT, handler_name: 'parcel_lookup', min_version: '1.10.0' };
      expect((await post('/workers/version-pins', pin)).status).toBe(200);
      expect((await post('/workers/tasks/poll', { ...poll, limit: 1 })).body).toEqual([]);
      expect(await codes(id)).toEqual(['WORKER_BELOW_VERSION_PIN']);
      const path = `/workers/version-pins/${TENANT}/parcel_lookup`;
      expect((await runs.api.call('DELETE', path)).status).toBe(204);
      expect(await codes(id)).toEqual(['WAITING_WORKER_PICKUP']);
      expect((await post('/workers/tasks/poll', { ...poll, limit: 1 })).body).toHaveLength(1);
      expect(await codes(id)).toEqual(['WORKER_TASK_PENDING']);
    });

    it('names the child that is waited for', async () => {
      const child = await publish(step('ask', { wait_for_input: { prompt: '?' } }));
      const name = (await get(`/sequences/${child}`)).name;
      const id = await run({ type: 'sub_sequence', id: 'sub', sequence_name: name });
      await runs.api.until(id, 'waiting');
      const [first] = (await get(`/instances/${id}/diagnosis`)).diagnoses;
      const [{ id: childId }] = await get(`/instances/${id}/children`);
      expect(first).toMatchObject({
        code: 'WAITING_CHILD',
        affected_resource: { kind: 'instance', id: childId },
      });
    });

    it('names who holds the slots of a concurrency key, and the place in line [DASHBOARD A7]', async () => {
      const sequence = await publish(step('nap', { handler: 'sleep', params: { duration_ms: HOUR } }));
      const key = { concurrency_key: 'printer', max_concurrency: 1 };
      const holder = await start(sequence, key);
      const ids = [await start(sequence, key), await start(sequence, key)];
      const found = await Promise.all(ids.map(async (id) => get(`/instances/${id}/diagnosis`)));
      for (const { diagnoses } of found) {
        expect(diagnoses[0].code).toBe('CONCURRENCY_BLOCKED');
        expect(diagnoses[0].summary).toContain('1 of 1 slots');
        expect(diagnoses[0].evidence).toContainEqual({ label: 'holders', summary: holder, data: [holder] });
      }
      const { summary } = await get(`/instances/${ids[0]}/explain`);
      expect(summary).toContain("waits for a free slot of the concurrency key 'printer'");
      const places = found.map(({ diagnoses }) => Number(diagnoses[0].evidence[0].summary));
      expect(places.toSorted((a, b) => a - b)).toEqual([1, 2]);
    });

    it('a look-up that fails is told of and is no error of the call [API 7.1]', async () => {
      const id = await run(step('lookup', { handler: 'parcel_lookup' }));
      const lost = { ...runs.underTest.store, getSurroundings: () => Promise.reject(new Error('gone')) };
      const store = wholeReads(lost);
      const fails = createLiveApi({ ...runs.underTest, store });
      await fails.stop();
      const reply = await fails.call('GET', `/instances/${id}/diagnosis`);
      expect(reply.status).toBe(200);
      const found = reply.body.diagnoses.map(({ code }: { code: string }) => code);
      expect(found).toEqual(['WAITING_EXTERNAL_EVENT', 'EVIDENCE_INCOMPLETE']);
    });
  });

  describe('remediations [API 7.2]', () => {
    const previews = (id: string): Promise<Body> => get(`/instances/${id}/remediations`);
    const apply = (id: string, body: JsonObject) => post(`/instances/${id}/remediations/apply`, body);

    it('a paused instance can be resumed, and the preview is stale afterwards', async () => {
      const id = await run(step('a', { delay: { duration: HOUR } }), step('b'));
      await post(`/instances/${id}/signals`, { signal_type: 'pause' });
      await runs.api.until(id, 'paused');
      const shown = await previews(id);
      expect(shown).toEqual([
        {
          preview_id: `${id}:paused:PAUSED:0:0`,
          finding_code: 'PAUSED',
          remediation_index: 0,
          action: 'resume_instance',
          summary: 'resume the instance',
          command: `orch8 signal ${id} resume`,
          side_effect_risk: false,
          expected_state: 'paused',
        },
      ]);
      expect(await previews(id)).toEqual(shown);
      const done = await apply(id, { preview_id: shown[0].preview_id });
      expect(done).toMatchObject({
        status: 200,
        body: {
          preview_id: shown[0].preview_id,
          action: 'resume_instance',
          before_state: 'paused',
          after_state: 'scheduled',
        },
      });
      const again = await apply(id, { preview_id: shown[0].preview_id });
      expect(again.status).toBe(400);
      expect(again.text).toContain('stale or does not belong');
    });

    it('a retry needs the acknowledgement of its risk', async () => {
      const id = await run(step('a', { handler: 'fail' }));
      await runs.api.until(id, 'failed');
      const [preview] = await previews(id);
      expect(preview).toMatchObject({
        action: 'retry_instance',
        side_effect_risk: true,
        expected_state: 'failed',
      });
      const refused = await apply(id, { preview_id: preview.preview_id });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('acknowledge_side_effect_risk');
      const order = { preview_id: preview.preview_id, acknowledge_side_effect_risk: true };
      expect((await apply(id, order)).body).toMatchObject({
        before_state: 'failed',
        after_state: 'scheduled',
      });
    });

    it('what only a person can do is refused, a completed instance offers nothing', async () => {
      const id = await run(step('lookup', { handler: 'parcel_lookup' }));
      await runs.api.until(id, 'waiting');
      const [preview] = await previews(id);
      expect(preview).toMatchObject({ finding_code: 'NO_COMPATIBLE_WORKER', action: 'manual' });
      const refused = await apply(id, { preview_id: preview.preview_id });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('manually');
      const done = await run(step('a'));
      await runs.api.until(done, 'completed');
      expect(await previews(done)).toEqual([]);
      expect((await apply(NOWHERE, { preview_id: 'x' })).status).toBe(404);
      expect((await apply(id, {})).status).toBe(422);
      expect((await apply(id, { preview_id: `${done}:completed:X:0:0` })).text).toContain(
        'stale or does not belong',
      );
    });
  });
}
