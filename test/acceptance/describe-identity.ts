import { describe, expect, it } from 'vitest';
import { TENANT } from '../api/support/api-fixture.ts';
import { startBody } from '../api/support/documents.ts';
import { loop, parallel, shaping, step } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

const ROOT = 'root-key';

/** Identity, rights and sizes: scenarios F11, F13 and F15. */
export function describeIdentity(stage: Stage): void {
  describe(`identity over ${stage.backend}`, () => {
    it('F11: the key of an auditor reads a run and starts none', async () => {
      stage.server({ api: { apiKey: ROOT } });
      const as = (key: string) => ({ headers: { 'x-api-key': key }, tenant: null });
      const created = await stage.call('POST', '/api-keys', {
        ...{ headers: { 'x-api-key': ROOT }, body: { tenant_id: TENANT, capabilities: ['auditor'] } },
      });
      const secret = String(created.body.secret);
      const body = {
        id: '30000000-0000-4000-8000-000000000001',
        tenant_id: TENANT,
        namespace: 'n',
        name: 's',
        version: 1,
      };
      const blocks = [step('a')];
      const root = { headers: { 'x-api-key': ROOT } };
      const published = { ...body, blocks, created_at: '2027-02-11T07:45:00.000Z' };
      expect((await stage.call('POST', '/sequences', { ...root, body: published })).status).toBe(201);
      const started = await stage.call('POST', '/instances', { ...root, body: startBody(body.id) });
      expect((await stage.call('GET', `/instances/${started.body.id}`, as(secret))).status).toBe(200);
      for (const [path, sent] of [
        ['/instances', startBody(body.id)],
        [`/instances/${started.body.id}/signals`, { signal_type: 'cancel' }],
        ['/sequences', published],
      ] as const) {
        expect((await stage.call('POST', path, { ...as(secret), body: sent })).status).toBe(403);
      }
      expect((await stage.call('GET', '/instances', as('sk_unknown'))).status).toBe(401);
    });

    it('F13: an output of 200 KiB is whole in the list, in a later template and in a child', async () => {
      const text = 'häkeln 🧶 '.repeat(18_000);
      const name = 'reader';
      await stage.publish([shaping('inner', { got: '{{ data.text }}' })], { name });
      const child = {
        type: 'sub_sequence',
        id: 'c',
        sequence_name: name,
        input: { text: '{{ outputs.big.text }}' },
      };
      const id = await stage.run([
        step('work', { handler: 'big' }),
        shaping('big', { text: '{{ outputs.work.text }}' }),
        loop('l', [parallel('p', [child], [shaping('later', { copy: '{{ outputs.big.text }}' })])], {
          max_iterations: 1,
        }),
      ]);
      await stage.until(id, 'waiting');
      expect((await stage.complete(await stage.poll('big'), { text })).status).toBe(200);
      await stage.until(id, 'completed', 'failed');
      const rows = await stage.get(`/instances/${id}/outputs?inline=true`);
      const of = (block: string) => rows.find((row: { block_id: string }) => row.block_id === block).output;
      expect([of('work'), of('big'), of('later')]).toEqual([{ text }, { text }, { copy: text }]);
      expect(of('c')[0].output).toEqual({ got: text });
    });

    it('F15: a budget of three steps stops in a loop as at the root, and each resume allows one more', async () => {
      const id = await stage.run(
        [loop('l', [parallel('b', [step('a'), step('c')])], { max_iterations: 5 })],
        {
          budget: { max_steps: 3 },
        },
      );
      for (const used of [4, 5, 6]) {
        const run = await stage.until(id, 'paused');
        expect(run.metadata).toMatchObject({
          ...{ paused_reason: 'budget_exceeded' },
          budget_breach: { limit: 'max_steps', limit_value: 3, actual: used },
        });
        await stage.signal(id, 'resume');
        await stage.calm();
      }
    });
  });
}
