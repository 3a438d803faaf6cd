import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateAgainst } from '../../src/core/definition/json-schema.ts';
import { sequenceJsonSchema } from '../../src/core/definition/document-schema.ts';
import { parseSequence } from '../../src/core/definition/parse-sequence.ts';
import { serialiseSequence } from '../../src/core/definition/serialise.ts';
import { isJsonObject, type Json, type JsonObject, jsonObject, member } from '../../src/core/json.ts';
import { accepted, documentOf, step, warningsOf } from './documents.ts';
import examples from './spec-examples.json' with { type: 'json' };

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });
const duration = fc.oneof(fc.nat(1_000_000), fc.double({ min: 0, max: 1000, noNaN: true }));
const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;

const stepMembers = fc.record({
  params: optional(json),
  when: optional(fc.string()),
  timeout: optional(duration),
  cancellable: optional(fc.constantFrom(true, false, null)),
  delay: optional(fc.record({ duration, jitter: optional(duration) })),
  retry: optional(
    fc.record({ max_attempts: fc.integer({ min: 1, max: 9 }), backoff_multiplier: optional(fc.constant(3)) }),
  ),
  wait_for_input: optional(fc.record({ prompt: fc.string(), timeout: optional(duration) })),
  context_access: optional(fc.record({ data: fc.constantFrom(true, 'none', { fields: ['x'] }) })),
  odd: optional(json),
});

/** Undefined members are left out; retry gets the back-offs that its shape needs. */
function clean(members: Record<string, unknown>): JsonObject {
  const text = JSON.stringify(members, (name, value) =>
    name === 'retry' && value?.max_attempts !== undefined
      ? { initial_backoff: 0.1, max_backoff: 5000, ...value }
      : value,
  );
  const parsed: Json = JSON.parse(text);
  return isJsonObject(parsed) ? parsed : {};
}

const tree = fc.letrec<{ list: readonly JsonObject[]; block: JsonObject }>((tie) => ({
  list: fc.array(tie('block'), { minLength: 1, maxLength: 3, depthIdentifier: 'tree' }),
  block: fc.oneof(
    { depthIdentifier: 'tree', maxDepth: 3 },
    stepMembers.map((members) => ({ type: 'step', handler: 'h', ...clean(members) })),
    fc.array(tie('list'), { minLength: 1, maxLength: 2 }).map((branches) => ({ type: 'parallel', branches })),
    tie('list').map((blocks) => ({ type: 'router', routes: [{ condition: 'x', blocks }], default: null })),
    tie('list').map((body) => ({ type: 'loop', condition: 'x', body })),
    tie('list').map((body) => ({ type: 'for_each', collection: 'rows', body })),
    tie('list').map((list) => ({ type: 'try_catch', try_block: list, catch_block: [], finally_block: null })),
    tie('block').map((action) => ({ type: 'saga', steps: [{ action }] })),
    tie('list').map((blocks) => ({
      type: 'ab_split',
      variants: [
        { name: 'a', weight: 1, blocks },
        { name: 'b', weight: 2, blocks: [] },
      ],
    })),
    json.map((input) => ({ type: 'sub_sequence', sequence_name: 's', input })),
    tie('list').map((blocks) => ({ type: 'cancellation_scope', blocks })),
  ),
}));

/** Gives every block and saga step an id of its own, so that generated trees keep LIM-4. */
function withIds(value: Json, next: { id: number }): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withIds(item, next));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, child]): readonly [string, Json] => [
    name,
    ['params', 'input', 'odd'].includes(name) ? child : withIds(child, next),
  ]);
  const needsId = member(value, 'type') !== undefined || member(value, 'action') !== undefined;
  next.id += 1;
  return jsonObject(needsId ? [...entries, ['id', `b${next.id}`]] : entries);
}

describe('stored form of a document', () => {
  it('parsing what was serialised gives the same document, without warnings about its shape', () => {
    fc.assert(
      fc.property(tree.list, (blocks) => {
        const first = accepted(documentOf(withIds(blocks, { id: 0 })));
        const again = parseSequence(serialiseSequence(first));
        expect(again.ok && again.value.document).toEqual(first);
        expect(again.ok && again.value.warnings.filter(({ code }) => code === 'unknown_field')).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('serialised text survives a JSON round trip', () => {
    fc.assert(
      fc.property(tree.list, (blocks) => {
        const wire = serialiseSequence(accepted(documentOf(withIds(blocks, { id: 0 }))));
        expect(JSON.parse(JSON.stringify(wire))).toEqual(wire);
        expect(validateAgainst(sequenceJsonSchema(), wire)).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('shows null for the members of http-api.md 3.2 that are shown when absent, and omits the others', () => {
    const wire = serialiseSequence(
      accepted(documentOf([step('a')], { on_failure: [step('b')], on_cancel: [step('c')] })),
    );
    const shown = {
      type: 'step',
      handler: 'noop',
      params: null,
      delay: null,
      retry: null,
      cancellable: true,
    };
    expect(member(wire, 'blocks')).toEqual([{ id: 'a', ...shown }]);
    expect(member(wire, 'on_failure')).toEqual([{ id: 'b', ...shown }]);
    expect(member(wire, 'on_cancel')).toEqual([{ id: 'c', ...shown }]);
    expect(wire).not.toHaveProperty('sla');
  });

  it('shows null for the absent lists of composites', () => {
    const wire = serialiseSequence(
      accepted(
        documentOf([
          { type: 'router', id: 'r', routes: [{ condition: 'x', blocks: [] }] },
          { type: 'router', id: 'r2', routes: [], default: [] },
          { type: 'try_catch', id: 't', try_block: [step('a')], catch_block: [] },
          {
            type: 'try_catch',
            id: 't2',
            try_block: [step('b')],
            catch_block: [],
            finally_block: [step('c')],
          },
          { type: 'saga', id: 's', steps: [{ id: 'x', action: step('d'), compensation: step('e') }] },
        ]),
      ),
    );
    expect(wire).toMatchObject({
      blocks: [
        { id: 'r', default: null },
        { id: 'r2', default: [] },
        { id: 't', finally_block: null },
        { id: 't2', finally_block: [{ id: 'c' }] },
        { id: 's', steps: [{ compensation: { id: 'e', retry: null } }] },
      ],
    });
  });
});

describe('example documents of the specifications', () => {
  const documents: readonly Json[] = examples.documents;
  const blocks: readonly Json[] = examples.blocks;
  const bodies = [...documents, ...blocks.map((block) => documentOf([block]))];

  it('are accepted and keep their form', () => {
    for (const body of bodies) {
      const document = accepted(body);
      expect(accepted(serialiseSequence(document))).toEqual(document);
    }
  });

  it('are accepted by the exported JSON Schema, as sent and as answered', () => {
    const schema = sequenceJsonSchema();
    for (const body of bodies) {
      expect(validateAgainst(schema, body)).toEqual([]);
      expect(validateAgainst(schema, serialiseSequence(accepted(body)))).toEqual([]);
    }
  });

  it('cause no warnings besides unknown outputs of neighbouring examples', () => {
    for (const body of documents) {
      expect(warningsOf(body)).toEqual([]);
    }
  });
});

describe('exported JSON Schema', () => {
  it('refuses what has the wrong shape and accepts both spellings of the A/B split', () => {
    const schema = sequenceJsonSchema();
    const variants = [{ name: 'a', weight: 1, blocks: [] }];
    for (const type of ['ab_split', 'a_b_split']) {
      expect(validateAgainst(schema, documentOf([{ type, id: 's', variants }]))).toEqual([]);
    }
    for (const broken of [
      documentOf([step('a', { handler: 5 })]),
      documentOf([step('a', { timeout: -1 })]),
      documentOf([{ type: 'nope', id: 'x' }]),
      documentOf([step('a')], { created_at: undefined }),
      documentOf([step('a')], { version: 1.5 }),
    ]) {
      expect(validateAgainst(schema, broken)).not.toEqual([]);
    }
  });
});
