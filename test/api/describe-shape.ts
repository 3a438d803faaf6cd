import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type Body, OTHER_TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

let api: LiveApi;

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
const gate = (id: string): JsonObject => step(id, { wait_for_input: { prompt: 'May it?' } });

const publish = (blocks: readonly JsonObject[], extra: JsonObject = {}): Promise<string> =>
  published(api as never, { name: `s-${nextId()}`, blocks, ...extra });

async function started(sequenceId: string): Promise<string> {
  const reply = await api.call('POST', '/instances', { body: startBody(sequenceId) });
  return reply.body.id as string;
}

const get = async (path: string): Promise<Body> => (await api.call('GET', path)).body;
const post = (path: string, body: object) => api.call('POST', path, { body });
const blocksOf = async (id: string): Promise<readonly string[]> =>
  (await get(`/instances/${id}/outputs`)).map((row: Body) => row.block_id);
const answer = (id: string, block = 'g') =>
  post(`/instances/${id}/signals`, {
    signal_type: { custom: `human_input:${block}` },
    payload: { value: 'yes' },
  });

/** Registers the tests of injection, migration and checkpoints over one kind of store. */
export function describeShape(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  describe('POST /instances/{id}/inject-blocks', () => {
    it('injects by position and at the end, and shows all in the metadata (http-api.md 6.7) [OP-9] [OP-10]', async () => {
      const id = await started(await publish([step('a'), gate('g'), step('c')]));
      await api.until(id, 'waiting');
      const first = await post(`/instances/${id}/inject-blocks`, {
        blocks: [step('x'), step('y')],
        position: 0,
      });
      expect(first.body).toEqual({ injected_block_ids: ['x', 'y'], position: 0, total_injected: 2 });
      const last = await post(`/instances/${id}/inject-blocks`, { blocks: [step('z')] });
      expect(last.body).toEqual({ injected_block_ids: ['z'], position: null, total_injected: 3 });
      const { metadata } = await get(`/instances/${id}`);
      expect(metadata._injected_blocks.map((block: Body) => block.id)).toEqual(['x', 'y', 'z']);
      await answer(id);
      await api.until(id, 'completed');
      const tree = await get(`/instances/${id}/tree`);
      expect(tree.map((node: Body) => node.block_id)).toEqual(['x', 'y', 'a', 'g', 'c', 'z']);
      expect([...new Set(await blocksOf(id))]).toEqual(['a', 'g', 'x', 'y', 'c', 'z']);
    });

    it('answers 400 for blocks that break a rule, and changes nothing [OP-9]', async () => {
      const id = await started(await publish([step('a'), gate('g')]));
      await api.until(id, 'waiting');
      const refused: readonly object[] = [
        { blocks: [] },
        { blocks: 'none' },
        { blocks: [{ id: 'x' }] },
        { blocks: [step('a')] },
        { blocks: [step('x'), step('x')] },
        { blocks: [step('x')], position: -1 },
        { blocks: [{ type: 'loop', id: 'x', condition: '', body: [] }] },
        { blocks: Array.from({ length: 4999 }, (_, index) => step(`x${index}`)) },
      ];
      for (const body of refused)
        expect((await post(`/instances/${id}/inject-blocks`, body)).status).toBe(400);
      expect((await post(`/instances/${id}/inject-blocks`, {})).status).toBe(422);
      expect((await get(`/instances/${id}`)).metadata).not.toHaveProperty('_injected_blocks');
      const duplicate = await post(`/instances/${id}/inject-blocks`, { blocks: [step('a')] });
      expect(duplicate.body.error).toContain('duplicate block id');
    });

    it('takes as many blocks as fit beside those of the sequence, and no more [LIM-3]', async () => {
      const id = await started(await publish([step('a'), gate('g')]));
      await api.until(id, 'waiting');
      const many = Array.from({ length: 4998 }, (_, index) => step(`x${index}`));
      expect((await post(`/instances/${id}/inject-blocks`, { blocks: many })).status).toBe(200);
      expect((await post(`/instances/${id}/inject-blocks`, { blocks: [step('y')] })).status).toBe(400);
    });

    it('stores blocks of an ended run, which a retry runs first where they stand [OP-11]', async () => {
      const broken = step('b', { handler: 'fail', params: { message: 'no' } });
      const id = await started(await publish([step('a'), broken]));
      await api.until(id, 'failed');
      expect(
        (await post(`/instances/${id}/inject-blocks`, { blocks: [step('fix')], position: 1 })).status,
      ).toBe(200);
      expect(await blocksOf(id)).not.toContain('fix');
      await post(`/instances/${id}/retry`, {});
      await api.until(id, 'failed');
      expect(await blocksOf(id)).toEqual(['a', 'fix', 'b']);
    });

    it('knows neither unknown instances nor those of other tenants', async () => {
      const id = await started(await publish([step('a')]));
      const body = { blocks: [step('x')] };
      expect((await post(`/instances/${nextId()}/inject-blocks`, body)).status).toBe(404);
      const reply = await api.call('POST', `/instances/${id}/inject-blocks`, { body, tenant: OTHER_TENANT });
      expect(reply.status).toBe(404);
    });

    it('K43: self_modify injects a block at the end, and an invalid one fails the run', async () => {
      const modify = (block: JsonObject): JsonObject =>
        step('m', { handler: 'self_modify', params: { blocks: [block] } });
      const id = await started(await publish([modify(step('late')), step('a')]));
      await api.until(id, 'completed');
      expect(await blocksOf(id)).toEqual(['m', 'a', 'late']);
      const broken = await started(await publish([modify({ type: 'loop', id: 'late' })]));
      await api.until(broken, 'failed');
    });
  });

  describe('POST /sequences/migrate-instance', () => {
    it('G21: a waiting run goes on with the new version, a completed one is refused [OP-13]', async () => {
      const name = `s-${nextId()}`;
      const v1 = await published(api as never, { name, blocks: [step('a'), gate('g'), step('b')] });
      const v2 = await published(api as never, {
        name,
        version: 2,
        blocks: [step('a'), gate('g'), step('c')],
      });
      const id = await started(v1);
      await api.until(id, 'waiting');
      const moved = await post('/sequences/migrate-instance', { instance_id: id, target_sequence_id: v2 });
      expect([moved.status, moved.body]).toEqual([
        200,
        { migrated: true, instance_id: id, from_sequence_id: v1, to_sequence_id: v2, pending: false },
      ]);
      expect((await get(`/instances/${id}`)).sequence_id).toBe(v2);
      await answer(id);
      await api.until(id, 'completed');
      expect([...new Set(await blocksOf(id))]).toEqual(['a', 'g', 'c']);
      const late = await post('/sequences/migrate-instance', { instance_id: id, target_sequence_id: v1 });
      expect(late.status).toBe(400);
    });

    it('answers 404 for what is not there and 403 for a target of another tenant [OP-13]', async () => {
      const own = await publish([gate('g')]);
      const id = await started(own);
      await api.until(id, 'waiting');
      const move = (instanceId: string, target: string) =>
        post('/sequences/migrate-instance', { instance_id: instanceId, target_sequence_id: target });
      expect((await move(id, nextId())).status).toBe(404);
      expect((await move(nextId(), own)).status).toBe(404);
      const foreign = { name: `s-${nextId()}`, tenant_id: OTHER_TENANT, blocks: [gate('g')] };
      const published2 = await api.call('POST', '/sequences', {
        body: {
          id: nextId(),
          namespace: 'n',
          version: 1,
          created_at: '2027-02-01T09:00:00.000Z',
          ...foreign,
        },
        tenant: OTHER_TENANT,
      });
      expect(published2.status).toBe(201);
      expect((await move(id, published2.body.id)).status).toBe(403);
      expect((await post('/sequences/migrate-instance', { instance_id: id })).status).toBe(422);
    });

    it('previews what it would keep, drop and bring, and refuses with 409 what has no safe place', async () => {
      const v1 = await publish([
        step('a'),
        { type: 'router', id: 'r', routes: [{ condition: 'true', blocks: [gate('g')] }] },
      ]);
      const v2 = await publish([
        step('n'),
        step('a'),
        { type: 'router', id: 'r', routes: [{ condition: 'false', blocks: [step('x')] }] },
      ]);
      const id = await started(v1);
      await api.until(id, 'waiting');
      const body = { instance_id: id, target_sequence_id: v2 };
      const told = await post('/sequences/migrate-instance/preview', body);
      expect(told.body).toMatchObject({
        instance_id: id,
        from_sequence_id: v1,
        to_sequence_id: v2,
        possible: false,
        refusals: [{ block_id: 'r', reason: expect.stringContaining('chosen') }],
        dropped: [{ block_id: 'g', state: 'waiting', cancels: 'gate' }],
        new: [{ block_id: 'n' }, { block_id: 'x' }],
        injected: { carried: [], replaced: [] },
      });
      const refused = await post('/sequences/migrate-instance', body);
      expect(refused).toMatchObject({ status: 409, body: { code: 'cannot_migrate' } });
      expect((await get(`/instances/${id}`)).sequence_id).toBe(v1);
    });
  });

  describe('checkpoints (20.6)', () => {
    it('G17: five checkpoints, pruned to two and to none', async () => {
      const id = await started(await publish([gate('g')]));
      const path = `/instances/${id}/checkpoints`;
      for (const n of [1, 2, 3, 4, 5]) expect((await post(path, { checkpoint_data: n })).status).toBe(201);
      expect((await post(`${path}/prune`, { keep: 2 })).body).toEqual({ count: 3 });
      expect((await get(path)).map((row: Body) => row.checkpoint_data)).toEqual([5, 4]);
      expect((await get(`${path}/latest`)).checkpoint_data).toBe(5);
      expect((await post(`${path}/prune`, { keep: 0 })).body).toEqual({ count: 2 });
      expect((await api.call('GET', `${path}/latest`)).status).toBe(404);
      expect(await get(path)).toEqual([]);
    });

    it('takes any JSON up to 1 MiB, in every state', async () => {
      const id = await started(await publish([step('a')]));
      await api.until(id, 'completed');
      const path = `/instances/${id}/checkpoints`;
      for (const data of [null, 'text', { cursor: 'p-118' }, []]) {
        await post(path, { checkpoint_data: data });
        expect((await get(`${path}/latest`)).checkpoint_data).toEqual(data);
      }
      expect((await post(path, { checkpoint_data: 'x'.repeat(1024 * 1024 - 2) })).status).toBe(201);
      expect((await post(path, { checkpoint_data: 'x'.repeat(1024 * 1024) })).status).toBe(413);
      expect((await post(path, {})).status).toBe(422);
      expect((await post(`${path}/prune`, { keep: -1 })).status).toBe(400);
    });

    it('knows neither unknown instances nor those of other tenants', async () => {
      const id = await started(await publish([step('a')]));
      for (const [of, tenant] of [
        [nextId(), undefined],
        [id, OTHER_TENANT],
      ] as const) {
        const options = tenant === undefined ? {} : { tenant };
        const path = `/instances/${of}/checkpoints`;
        const replies = [
          await api.call('POST', path, { body: { checkpoint_data: 1 }, ...options }),
          await api.call('GET', path, options),
          await api.call('GET', `${path}/latest`, options),
          await api.call('POST', `${path}/prune`, { body: { keep: 0 }, ...options }),
        ];
        expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      }
    });
  });
}
