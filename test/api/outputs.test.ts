import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import type { Body } from './support/api-fixture.ts';
import { useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

const KIB_200 = 'y'.repeat(200 * 1024);

const shape = (id: string, params: JsonObject): JsonObject => ({
  type: 'step',
  id,
  handler: 'transform',
  params,
});

describe('outputs', () => {
  const backend = useBackend('memory');
  let api: LiveApi;
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  const run = async (blocks: readonly JsonObject[], data: JsonObject = {}): Promise<string> => {
    const sequenceId = await published(api as never, { name: `s-${nextId()}`, blocks });
    const { body } = await api.call('POST', '/instances', {
      body: startBody(sequenceId, { context: { data } }),
    });
    await api.until(body.id, 'completed', 'failed');
    return body.id;
  };
  const outputs = async (id: string, query = ''): Promise<Body[]> =>
    (await api.call('GET', `/instances/${id}/outputs${query}`)).body;

  it('of 200 KiB are whole in the list and in a later template (F13) [EXT-2]', async () => {
    const id = await run(
      [shape('big', { text: '{{data.text}}' }), shape('later', { copy: '{{outputs.big.text}}' })],
      {
        text: KIB_200,
      },
    );
    const [big, later] = await outputs(id);
    expect(big).toMatchObject({ output: { text: KIB_200 }, output_ref: null });
    expect(later.output).toEqual({ copy: KIB_200 });
  });

  it('behind the first MiB are shown by their key, and found by it [EXT-1] [EXT-2]', async () => {
    const steps = Array.from({ length: 8 }, (_, n) => shape(`big_${n}`, { n, text: '{{data.text}}' }));
    const id = await run([...steps, shape('small', { n: 9 })], { text: KIB_200 });
    const rows = await outputs(id);
    const shown = rows.map(({ output }) => output.n ?? output._externalized);
    expect(shown).toEqual([0, 1, 2, 3, 4, true, true, true, 9]);
    const last = rows[7];
    expect(last).toMatchObject({ block_id: 'big_7', output_ref: last.output._ref });
    const one = await api.call('GET', `/instances/${id}/outputs/${last.id}`);
    expect(one.body).toMatchObject({ output: { n: 7, text: KIB_200 }, output_ref: null });
    const whole = await outputs(id, '?inline=true');
    expect(whole.map(({ output }) => output.n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 9]);
  });

  it('that look like the key of another one are no such key [EXT-2]', async () => {
    const fake = { _externalized: true, _ref: 'x' };
    const id = await run([shape('fake', fake), shape('later', { copy: '{{outputs.fake._ref}}' })]);
    const [first, later] = await outputs(id);
    expect(first).toMatchObject({ output: fake, output_ref: null });
    expect(later.output).toEqual({ copy: 'x' });
  });

  it('come in pages, by block and by pass', async () => {
    const each = {
      type: 'for_each',
      id: 'each',
      collection: 'list',
      body: [shape('item', { it: '{{item}}' })],
    };
    const id = await run([each, shape('end', {})], { list: [1, 2, 3] });
    expect((await outputs(id, '?block_id=item')).map(({ output }) => output.it)).toEqual([1, 2, 3]);
    expect((await outputs(id, '?iteration=each:1')).map(({ output }) => output.it)).toEqual([2]);
    const all = await outputs(id);
    const before = await outputs(id, `?before=${all.at(-1).id}&limit=2`);
    expect(before).toEqual(all.slice(-3, -1));
    expect((await api.call('GET', `/instances/${id}/outputs/${nextId()}`)).status).toBe(404);
    expect((await api.call('GET', `/instances/${id}/outputs/x`)).status).toBe(400);
  });
});
