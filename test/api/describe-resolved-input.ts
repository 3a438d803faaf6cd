import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
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

async function run(blocks: readonly JsonObject[], context: JsonObject = {}): Promise<string> {
  const sequenceId = await published(api as never, { name: `s-${nextId()}`, blocks });
  const { body } = await api.call('POST', '/instances', { body: startBody(sequenceId, { context }) });
  return body.id as string;
}

const get = (path: string): Promise<Body> => api.call('GET', path);
const input = async (id: string, block: string, query = ''): Promise<Body> =>
  (await get(`/instances/${id}/blocks/${encodeURIComponent(block)}/resolved-input${query}`)).body;

const TEMPLATES: readonly Json[] = [
  '{{ data.name }}',
  'Dear {{ data.name }}, {{ data.gone }}',
  '{{ data.gone | data.nil | outputs.first.n }}',
  "{{ data.nil | default('none') | upper }}",
  '{{ config.limit }}',
  '{{ outputs.first }}',
  '{{ steps.first.n }}{{ outputs.none }}',
  { deep: [{ of: '{{ json(data.list) }}' }, 'plain', 7, null] },
  '{{ len(data.list) }}',
  '{{ instance_id }}',
  '{{ runtime.nothing | runtime.instance_id }}',
  "{{ data.name | replace('A', data.list) | truncate(9, '…') }}",
  '{{ data.name',
  {},
];

/** Registers the tests of resolved inputs over one kind of store. */
export function describeResolvedInput(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  describe('GET /instances/{id}/blocks/{block_id}/resolved-input', () => {
    it('shows the very params that the engine has given to the workers [API 7.3]', async () => {
      const branches = TEMPLATES.map((params, index) => [step(`w${index}`, { handler: 'ext', params })]);
      const first = step('first', { handler: 'log', params: { message: 'x' } });
      const data = { name: 'Ada', nil: null, list: [1, { a: 2 }] };
      const id = await run([first, { type: 'parallel', id: 'p', branches }], { data, config: { limit: 4 } });
      await api.until(id, 'waiting');
      const tasks: Body[] = (await get('/workers/tasks?limit=100')).body;
      expect(tasks).toHaveLength(TEMPLATES.length);
      for (const task of tasks) {
        const trace = await input(id, task.block_id);
        expect([trace.block_id, trace.resolved_params]).toEqual([task.block_id, task.params]);
      }
    });

    it('resolves a step that is still to come from what is there now', async () => {
      const params = { from: '{{ outputs.first.x }}', late: '{{ outputs.g.value }}' };
      const first = step('first', { handler: 'set_state', params: { key: 'k', value: { x: 1 } } });
      const id = await run([
        first,
        gate('g'),
        step('later', { params: { ...params, of: '{{ state.k.x }}' } }),
      ]);
      await api.until(id, 'waiting');
      const trace = await input(id, 'later');
      expect(trace.resolved_params).toMatchObject({ late: null, of: 1 });
      expect(trace.entries.map(({ status }: Body) => status)).toContain('missing');
    });

    it('counts with at_block only the outputs of root blocks before it', async () => {
      const inner = step('inner', { handler: 'log', params: { message: 'i' } });
      const blocks = [
        step('a', { handler: 'log', params: { message: 'a' } }),
        { type: 'cancellation_scope', id: 'scope', blocks: [inner] },
        step('b', { handler: 'log', params: { message: 'b' } }),
        gate('g'),
        step('last', { params: ['{{ outputs.a | 0 }}', '{{ outputs.inner | 0 }}', '{{ outputs.b | 0 }}'] }),
      ];
      const id = await run(blocks);
      await api.until(id, 'waiting');
      const seen = async (at: string): Promise<readonly boolean[]> =>
        (await input(id, 'last', at)).entries.map((entry: Body) => entry.source !== 'literal');
      expect(await seen('')).toEqual([true, true, true]);
      expect(await seen('?at_block=last')).toEqual([true, false, true]);
      expect(await seen('?at_block=b')).toEqual([true, false, false]);
      expect(await seen('?at_block=inner')).toEqual([true, false, false]);
      expect(await seen('?at_block=a')).toEqual([false, false, false]);
    });

    it('binds the item whose turn it is, and redacts', async () => {
      const body = [step('in', { handler: 'ext', params: { of: '{{ item.no }}', token: '{{ item.no }}' } })];
      const each = { type: 'for_each', id: 'each', collection: 'data.items', body };
      const id = await run([each], { data: { items: [{ no: 41 }, { no: 42 }] } });
      await api.until(id, 'waiting');
      expect(await input(id, 'in')).toMatchObject({
        resolved_params: { of: 41, token: '[REDACTED]' },
        entries: [{ value: 41 }, { status: 'redacted' }],
      });
    });

    it('resolves a step of an ended run from what is left of it', async () => {
      const first = step('first', { handler: 'transform', params: { of: '{{ data.n }}' } });
      const id = await run([first, step('last', { params: { n: '{{ outputs.first.of }}' } })], {
        data: { n: 7 },
      });
      await api.until(id, 'completed');
      expect(await input(id, 'last')).toMatchObject({ resolved_params: { n: 7 } });
      const fails = await run([step('bad', { params: ['{{ nope.x }}'] })]);
      await api.until(fails, 'failed');
      const trace = await input(fails, 'bad');
      expect(trace).toMatchObject({
        error: expect.stringContaining('unknown template root'),
        entries: [{ status: 'error' }],
      });
      expect(trace).not.toHaveProperty('resolved_params');
    });

    it('shows the input that a person has put in the place of the params', async () => {
      const id = await run([step('first'), step('ask', { handler: 'ext', params: { n: '{{ data.n }}' } })], {
        data: { n: 1 },
      });
      await api.until(id, 'waiting');
      expect(await input(id, 'ask')).toMatchObject({ resolved_params: { n: 1 }, entries: [{}] });
      await api.call('PATCH', `/instances/${id}/state`, { body: { state: 'cancelled' } });
      await api.call('POST', `/instances/${id}/resume-from/ask`, {
        body: { input: { n: 2, password: 'x' } },
      });
      await api.until(id, 'waiting');
      expect(await input(id, 'ask')).toEqual({
        block_id: 'ask',
        resolved_params: { n: 2, password: '[REDACTED]' },
        entries: [],
      });
    });

    it('binds one of the items that run side by side', async () => {
      const body = [step('in', { handler: 'ext', params: ['{{ item.no }}'] })];
      const each = { type: 'for_each', id: 'each', collection: 'data.items', body, concurrency: 2 };
      const id = await run([each], { data: { items: [{ no: 41 }, { no: 42 }, { no: 43 }] } });
      await api.until(id, 'waiting');
      const tasks: Body[] = (await get('/workers/tasks?limit=100')).body;
      expect(new Set(tasks.map(({ params }) => params[0]))).toEqual(new Set([41, 42]));
      const trace = await input(id, 'in');
      expect(tasks.map(({ params }) => params)).toContainEqual(trace.resolved_params);
    });

    it('is 404 for what is not there, 400 for a block that is no step and for a bad id', async () => {
      const id = await run([gate('g'), { type: 'cancellation_scope', id: 'scope', blocks: [step('x/y')] }]);
      await api.until(id, 'waiting');
      const status = async (path: string, tenant?: string): Promise<number> => {
        const reply = await api.call('GET', `/instances/${path}`, tenant === undefined ? {} : { tenant });
        return reply.status;
      };
      expect(await status(`${id}/blocks/g/resolved-input`)).toBe(200);
      expect(await status(`${id}/blocks/x%2Fy/resolved-input`)).toBe(200);
      expect(await status(`${id}/blocks/none/resolved-input`)).toBe(404);
      expect(await status(`${id}/blocks/g/resolved-input?at_block=none`)).toBe(404);
      expect(await status(`${nextId()}/blocks/g/resolved-input`)).toBe(404);
      expect(await status(`${id}/blocks/g/resolved-input`, OTHER_TENANT)).toBe(404);
      expect(await status(`${id}/blocks/scope/resolved-input`)).toBe(400);
      expect(await status('7/blocks/g/resolved-input')).toBe(400);
    });
  });
}
