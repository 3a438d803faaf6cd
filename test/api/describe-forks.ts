import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import type { Body, Reply } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';
import { createRunCalls, gate, says, step } from './support/run-calls.ts';

let api: LiveApi;

const { start, get, post, resume, signal, expectVerified } = createRunCalls(() => api);

/** Registers the tests of forks and comparisons over one kind of store. */
export function describeForks(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  describe('fork over HTTP', () => {
    it('copies what stands before the block and runs the rest in a sandbox; the source stays [OP-7] [OP-8]', async () => {
      const id = await start([says('a', 'one'), says('b', '{{ data.word }}'), step('c')], {
        context: { data: { word: 'old' } },
        metadata: { depot: 'north' },
        idempotency_key: nextId(),
      });
      await api.until(id, 'completed');
      const source = await get(`/instances/${id}`);
      const reply = await post(`/instances/${id}/fork`, { from_block_id: 'b', context: { word: 'new' } });
      const forkId = reply.body.id;
      expect([reply.status, reply.body]).toEqual([
        201,
        {
          id: forkId,
          forked_from: id,
          state: 'scheduled',
          copied_blocks: 1,
          rerun_blocks: ['b', 'c'],
          dry_run: true,
        },
      ]);
      const fork = await api.until(forkId, 'completed', 'failed');
      expect(fork).toMatchObject({
        state: 'completed',
        idempotency_key: null,
        metadata: { depot: 'north', forked_from: id, forked_at_block: 'b', sandbox: true },
      });
      expect(fork.context.runtime.dry_run).toBe(true);
      const outputs = await get(`/instances/${forkId}/outputs`);
      expect(outputs.map((row: Body) => [row.block_id, row.output.value ?? null])).toEqual([
        ['a', 'one'],
        ['b', 'new'],
        ['c', null],
      ]);
      expect(await get(`/instances/${id}`)).toEqual(source);
      await expectVerified(forkId);
    });

    it('previews what it would copy and run again [OP-7]', async () => {
      const id = await start([step('a'), { type: 'step', id: 'mail', handler: 'http_request' }, step('c')]);
      await api.until(id, 'failed');
      expect(await get(`/instances/${id}/fork-preview?from_block_id=mail`)).toEqual({
        instance_id: id,
        from_block_id: 'mail',
        copied_blocks: ['a'],
        re_executed_blocks: ['mail', 'c'],
        side_effect_blocks: ['mail'],
        sandbox_default: true,
      });
      const preview = (query: string): Promise<Reply> =>
        api.call('GET', `/instances/${id}/fork-preview${query}`);
      expect((await preview('')).status).toBe(400);
      expect((await preview('?from_block_id=zebra')).status).toBe(404);
    });

    it('forks a run that waits, at a block inside a pass, with its items and its state [OP-8] [EXT-2]', async () => {
      const each = {
        type: 'for_each',
        id: 'e',
        collection: 'words',
        body: [says('x', '{{ item }}'), { ...gate('g'), when: "data.item == 'two'" }],
      };
      const keeps = step('k', { handler: 'set_state', params: { key: 'seen', value: 1 } });
      const reads = step('r', { handler: 'get_state', params: { key: 'seen' } });
      const id = await start([keeps, each, reads], { context: { data: { words: ['one', 'two', 'three'] } } });
      await api.until(id, 'waiting');
      const at = { from_block_id: 'x', iteration: 'e:0', dry_run: false, copy_state: true };
      const { id: forkId } = (await post(`/instances/${id}/fork`, { ...at, context: { words: [] } })).body;
      await api.until(forkId, 'waiting');
      await signal(forkId, { custom: 'human_input:g' }, { value: 'yes' });
      expect((await api.until(forkId, 'completed', 'failed')).state).toBe('completed');
      const outputs = await get(`/instances/${forkId}/outputs`);
      const values = outputs.filter((row: Body) => row.block_id === 'x').map((row: Body) => row.output.value);
      expect(values).toEqual(['one', 'two', 'three']);
      expect(outputs.at(-1).block_id).toBe('r');
      expect((await get(`/instances/${id}`)).state).toBe('waiting');
      await expectVerified(id);
      await expectVerified(forkId);
    });

    it('answers 404, 400 and 413 for what cannot be forked [OP-8]', async () => {
      const id = await start([step('a')]);
      await api.until(id, 'completed');
      expect((await post(`/instances/${nextId()}/fork`, { from_block_id: 'a' })).status).toBe(404);
      expect((await post(`/instances/${id}/fork`, { from_block_id: 'zebra' })).status).toBe(400);
      expect((await post(`/instances/${id}/fork`, { from_block_id: 'a', context: 'x' })).status).toBe(400);
      const large = { big: 'x'.repeat(300_000) };
      expect((await post(`/instances/${id}/fork`, { from_block_id: 'a', context: large })).status).toBe(413);
      expect((await resume(id, 'a', { context: large })).status).toBe(413);
      expect((await get(`/instances/${id}`)).state).toBe('completed');
    });

    it('compares two runs by the latest output of each block', async () => {
      const id = await start([says('a', 'one'), says('b', '{{ data.word }}'), step('c')], {
        context: { data: { word: 'old' } },
      });
      await api.until(id, 'completed');
      const forked = await post(`/instances/${id}/fork`, {
        from_block_id: 'b',
        context: { word: 'new' },
        dry_run: false,
      });
      await api.until(forked.body.id, 'completed');
      expect(await get(`/instances/${id}/compare/${forked.body.id}`)).toEqual({
        left: id,
        right: forked.body.id,
        left_state: 'completed',
        right_state: 'completed',
        only_left: [],
        only_right: [],
        differing_outputs: ['b'],
        matching_blocks: 2,
      });
      expect((await api.call('GET', `/instances/${id}/compare/${nextId()}`)).status).toBe(404);
    });
  });
}
