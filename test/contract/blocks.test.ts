import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type Body, createFixture } from '../api/support/api-fixture.ts';
import { document } from '../api/support/documents.ts';
import { nextId } from '../support/turn-builder.ts';
import { BLOCKS, STEP_PARTS } from './tables/blocks.ts';
import { shownAs, wantedAs } from './support/shown.ts';
import { WRONG } from './support/wrong-values.ts';

const api = createFixture();

const publish = (...blocks: readonly JsonObject[]) =>
  api.call('POST', '/sequences', { body: document({ name: nextId(), blocks }) });

/** The first block as it is shown once it is published. */
async function shownOf(block: JsonObject): Promise<Body> {
  const reply = await publish(block);
  expect([reply.status, reply.body.error]).toEqual([201, undefined]);
  return (await api.call('GET', `/sequences/${reply.body.id}`)).body.blocks[0];
}

const blockOf = (type: string, members: JsonObject): JsonObject => ({ type, id: 'x-1', ...members });
const TEXTS = { 201: /^undefined$/, 400: /^invalid argument: /, 422: /^unprocessable entity: / };
const rows = BLOCKS.flatMap(({ type, least, fields }) =>
  Object.entries(fields).map(([name, field]) => [type, name, least, field] as const),
);

describe('a block of a sequence (http-api.md 3.2)', () => {
  it.each(rows.filter(([, , , { required }]) => required === true))(
    '%s must have %s: 422 names it',
    async (type, name, least) => {
      const rest = Object.fromEntries(Object.entries(least).filter(([key]) => key !== name));
      const reply = await publish(blockOf(type, rest));
      expect(reply.status).toBe(422);
      expect(reply.body.error).toContain(`missing field \`${name}\``);
    },
  );

  it.each(rows.filter(([, , , { required }]) => required !== true))(
    '%s may leave out %s, or make it null, and shows what the table says',
    async (type, name, least, { shown }) => {
      for (const more of [{}, { [name]: null }]) {
        const view = await shownOf(blockOf(type, { ...least, ...more }));
        expect(shownAs(view, name, shown)).toEqual(wantedAs(shown));
      }
    },
  );

  it.each(rows)('%s takes %s and returns it as it was sent', async (type, name, least, field) => {
    for (const value of field.words ?? (field.value === undefined ? [] : [field.value])) {
      const view = await shownOf(blockOf(type, { ...least, [name]: value } as JsonObject));
      // Members that were not sent may be shown with their defaults.
      expect(view).toMatchObject({ [name]: field.valueShown ?? value });
    }
  });

  it.each(rows)('%s refuses another type of %s with 422', async (type, name, least, field) => {
    for (const value of WRONG[field.type]) {
      const reply = await publish(blockOf(type, { ...least, [name]: value } as JsonObject));
      expect([value, reply.status]).toEqual([value, 422]);
    }
  });

  it.each(BLOCKS.map(({ type, least }) => [type, least] as const))(
    '%s has a type and an id',
    async (type, least) => {
      expect((await publish({ type, ...least })).status).toBe(422);
      expect((await publish({ id: 'x-1', ...least })).status).toBe(422);
      expect((await publish({ type, id: '', ...least })).status).toBe(400);
      expect((await publish({ type, id: 7, ...least })).status).toBe(422);
      expect(Object.keys(await shownOf(blockOf(type, { ...least, no_such_member: 1 })))).not.toContain(
        'no_such_member',
      );
    },
  );

  it('of one step shows nothing but its defaults', async () => {
    expect(await shownOf({ type: 'step', id: 'a', handler: 'noop' })).toEqual({
      type: 'step',
      id: 'a',
      handler: 'noop',
      params: null,
      delay: null,
      retry: null,
      cancellable: true,
    });
  });

  it('with the alias ab_split is shown as a_b_split', async () => {
    const { least } = BLOCKS.find(({ type }) => type === 'a_b_split') ?? { least: {} };
    expect(await shownOf(blockOf('ab_split', least))).toMatchObject({ type: 'a_b_split' });
  });

  it.each(STEP_PARTS)('with %s is answered as the text says', async (_name, members, status) => {
    const other = { type: 'step', id: 'b', handler: 'noop' };
    const reply = await publish({ type: 'step', id: 'a', handler: 'noop', ...members }, other);
    expect([reply.status, String(reply.body.error)]).toEqual([status, expect.stringMatching(TEXTS[status])]);
  });
});
