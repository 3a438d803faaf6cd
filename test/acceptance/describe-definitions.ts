import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { TENANT } from '../api/support/api-fixture.ts';
import { document } from '../api/support/documents.ts';
import { gate, loop, parallel, step } from './support/blocks.ts';
import { expectStatus, type Stage } from './support/stage.ts';

/** Definition and publishing: scenarios A01 to A15. */
export function describeDefinitions(stage: Stage): void {
  describe(`definitions over ${stage.backend}`, () => {
    const publish = (blocks: Json, members: JsonObject = {}) =>
      stage.post('/sequences', document({ name: 'w', blocks, ...members }));
    const byName = (query = '') =>
      stage.call('GET', `/sequences/by-name?tenant_id=${TENANT}&namespace=fulfilment&name=w${query}`);

    it('A01: a published version is found by its id and by its name', async () => {
      const body = document({ name: 'w', blocks: [step('a')] });
      const reply = await stage.post('/sequences', body);
      expect(reply).toMatchObject({ status: 201, body: { id: body.id } });
      const one = await stage.get(`/sequences/${body.id}`);
      expect(one).toMatchObject({ id: body.id, name: 'w', version: 1 });
      expect((await byName()).body).toEqual(one);
    });

    it.each<[string, readonly JsonObject[]]>([
      [
        'a route',
        [step('x'), { type: 'router', id: 'r', routes: [{ condition: 'true', blocks: [step('x')] }] }],
      ],
      ['a loop in a branch', [parallel('p', [step('x')], [loop('l', [step('x')])])]],
      [
        'the id of a saga step',
        [step('x'), { type: 'saga', id: 's', steps: [{ id: 'x', action: step('y') }] }],
      ],
    ])('A03: two blocks of one name, one of them in %s, are refused by name', async (_, blocks) => {
      const reply = await publish(blocks);
      expect(reply.status).toBe(400);
      expect(reply.body.error).toContain("'x'");
    });

    const retryOf = (retry: JsonObject): JsonObject =>
      step('a', { retry: { max_attempts: 2, initial_backoff: 1, max_backoff: 9, ...retry } });

    it.each<[string, string, JsonObject]>([
      ['A05', 'a loop of 0 passes', loop('l', [step('a')], { max_iterations: 0 })],
      ['A05', 'a loop of 100,001 passes', loop('l', [step('a')], { max_iterations: 100_001 })],
      [
        'A05',
        'a for_each of 0 items',
        { type: 'for_each', id: 'e', collection: 'xs', body: [step('a')], max_iterations: 0 },
      ],
      ['A07', 'no try at all', retryOf({ max_attempts: 0 })],
      ['A07', 'a first wait above the longest', retryOf({ initial_backoff: 5_000, max_backoff: 1_000 })],
      ['A07', 'a blank condition', retryOf({ retry_if: ' ' })],
      [
        'A09',
        'the same choice twice',
        gate('g', {
          choices: [
            { label: 'Yes', value: 'yes' },
            { label: 'Sure', value: 'yes' },
          ],
        }),
      ],
      ['A15', 'a schema of an unknown type', step('a', { output_schema: { type: 'objekt' } })],
    ])('%s: %s is refused, at the root and two levels down', async (_id, _name, block) => {
      for (const blocks of [[block], [parallel('p', [loop('around', [block])])]]) {
        const reply = await publish(blocks);
        expectStatus(reply, 400);
        expect((await byName()).status).toBe(404);
      }
    });

    it('A09: the refusal says that the choice is there twice', async () => {
      const choices = ['yes', 'yes'].map((value) => ({ label: value, value }));
      expect((await publish([gate('g', { choices })])).text).toMatch(/duplicate|distinct|twice/i);
    });

    it('A11: a look-up by name passes over a deprecated version, which is still read and started by its id', async () => {
      await publish([step('a')]);
      const second = (await publish([step('a')], { version: 2 })).body.id;
      for (let n = 0; n < 2; n += 1)
        expect((await stage.post(`/sequences/${second}/deprecate`)).status).toBe(204);
      expect((await byName()).body.version).toBe(1);
      expect((await byName('&version=2')).body).toMatchObject({ id: second, deprecated: true });
      expect(await stage.get(`/sequences/${second}`)).toMatchObject({ version: 2, deprecated: true });
      expect((await stage.until(await stage.start(second))).state).toBe('completed');
    });

    it.each([
      ['waiting', [gate('ask')], {}],
      ['scheduled', [step('a')], { next_fire_at: '2027-03-01T00:00:00Z' }],
    ])(
      'A13: a version with a run that is %s is not deleted before that has ended',
      async (state, blocks, overrides) => {
        const sequenceId = await stage.publish(blocks);
        const id = await stage.start(sequenceId, overrides);
        await stage.until(id, state);
        const remove = async () => (await stage.call('DELETE', `/sequences/${sequenceId}`)).status;
        expect(await remove()).toBe(409);
        await stage.signal(id, 'cancel');
        await stage.until(id);
        expect([await remove(), await remove()]).toEqual([204, 404]);
        expect((await stage.call('GET', `/instances/${id}`)).status).toBe(404);
      },
    );

    it.each<[string, Json]>([
      ['an unknown type', { type: 'objekt' }],
      ['no schema', 7],
      ['an unknown type inside', { type: 'object', properties: { a: { items: { type: 'strin' } } } }],
      ['a reference to elsewhere', { $ref: 'https://schemas.example/a.json' }],
    ])('A15: an input schema with %s is refused', async (_, schema) => {
      expect((await publish([step('a')], { input_schema: schema })).status).toBe(400);
    });
  });
}
