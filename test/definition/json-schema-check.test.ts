import { describe, expect, it } from 'vitest';
import { schemaProblems, validateAgainst } from '../../src/core/definition/json-schema.ts';
import type { Json } from '../../src/core/json.ts';
import { accepted, documentOf, refusalOf, step } from './documents.ts';

describe('checking schemas', () => {
  it('[PUB-4] accepts objects and booleans', () => {
    expect(
      accepted(documentOf([step('a', { output_schema: false })], { input_schema: true })).input_schema,
    ).toBe(true);
    expect(schemaProblems({})).toEqual([]);
  });

  it('[PUB-4] answers 400 to an input_schema that is none, and names the place', () => {
    expect(refusalOf([step('a')], { input_schema: { type: 'objekt' } })).toMatch(
      /^400 input_schema is not a usable JSON Schema: type must be one of .* at \/type \(PUB-4\) at input_schema$/,
    );
    expect(refusalOf([step('a')], { input_schema: 'object' })).toMatch(/^400 .*an object or a boolean/);
    expect(refusalOf([step('a')], { input_schema: [] })).toMatch(/^400 /);
  });

  it('[PUB-4] answers 400 to an output_schema that is none, in every list', () => {
    const bad = step('x', { output_schema: { minLength: -1 } });
    const scope = { type: 'cancellation_scope', id: 's', blocks: [bad] };
    expect(refusalOf([scope])).toMatch(
      /^400 block 'x': output_schema .*blocks\[0\]\.blocks\[0\]\.output_schema$/,
    );
    expect(refusalOf([step('a')], { on_cancel: [bad] })).toMatch(
      /^400 block 'x': .*on_cancel\[0\]\.output_schema$/,
    );
  });

  it('[PUB-4] limits come before schemas', () => {
    expect(refusalOf([step('a', { handler: '', output_schema: 5 })])).toContain('LIM-5');
  });

  it.each([
    'https://example.com/schema.json',
    'http://127.0.0.1/#/x',
    'other.json',
    'file:///etc/passwd',
    'urn:x',
    '//host/x',
  ])('[PUB-4] refuses the remote reference %s', ($ref) => {
    const problems = schemaProblems({ properties: { a: { $ref } } });
    expect(problems).toEqual([
      { pointer: '/properties/a/$ref', message: expect.stringContaining('not fetched') },
    ]);
  });

  it.each([
    [{ type: ['string', 'string'] }, '/type'],
    [{ type: [] }, '/type'],
    [{ type: 5 }, '/type'],
    [{ enum: 'a' }, '/enum'],
    [{ required: ['a', 'a'] }, '/required'],
    [{ required: 'a' }, '/required'],
    [{ minimum: '1' }, '/minimum'],
    [{ multipleOf: 0 }, '/multipleOf'],
    [{ maxItems: 1.5 }, '/maxItems'],
    [{ uniqueItems: 'yes' }, '/uniqueItems'],
    [{ pattern: '(' }, '/pattern'],
    [{ pattern: 5 }, '/pattern'],
    [{ patternProperties: { '(': true } }, '/patternProperties/('],
    [{ patternProperties: [] }, '/patternProperties'],
    [{ properties: { a: 5 } }, '/properties/a'],
    [{ properties: [] }, '/properties'],
    [{ items: [true] }, '/items'],
    [{ items: 'x' }, '/items'],
    [{ allOf: [] }, '/allOf'],
    [{ anyOf: {} }, '/anyOf'],
    [{ oneOf: [5] }, '/oneOf/0'],
    [{ not: null }, '/not'],
    [{ dependentRequired: { a: 'b' } }, '/dependentRequired'],
    [{ dependentRequired: [] }, '/dependentRequired'],
    [{ $ref: '#/nowhere' }, '/$ref'],
    [{ $ref: '#missing' }, '/$ref'],
    [{ $ref: '#/%' }, '/$ref'],
    [{ $ref: 5 }, '/$ref'],
    [{ $recursiveRef: '#' }, '/$recursiveRef'],
    [{ $schema: 'https://example.com/meta' }, '/$schema'],
    [{ $schema: 7 }, '/$schema'],
    [{ $id: 5 }, '/$id'],
    [{ title: 5 }, '/title'],
    [{ 'a/b': 1, properties: { 'a/b': { minimum: 'x' } } }, '/properties/a~1b/minimum'],
  ] as readonly [Json, string][])('[PUB-4] refuses %j', (schema, pointer) => {
    expect(schemaProblems(schema).map((problem) => problem.pointer)).toEqual([pointer]);
  });

  it.each([
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2020-12/schema#',
    'http://json-schema.org/draft-07/schema#',
  ])('[PUB-4] accepts the draft %s', ($schema) => {
    expect(schemaProblems({ $schema })).toEqual([]);
  });

  it('[PUB-4] refuses an anchor or id that is used twice', () => {
    expect(schemaProblems({ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } })).toHaveLength(1);
    expect(schemaProblems({ $defs: { a: { $id: 'x' }, b: { $id: 'x' } } })).toHaveLength(1);
  });

  it.each([
    { $ref: '#' },
    { allOf: [{ $ref: '#' }] },
    {
      $defs: { a: { $ref: '#/$defs/b' }, b: { not: { $ref: '#/$defs/a' } } },
      properties: { x: { $ref: '#/$defs/a' } },
    },
    { dependentSchemas: { a: { $ref: '#' } } },
    { if: { anyOf: [{ $ref: '#' }] } },
  ] as readonly Json[])('[PUB-4] refuses references that never end: %j', (schema) => {
    expect(schemaProblems(schema)).toEqual([{ pointer: '', message: expect.stringContaining('leads back') }]);
  });

  it('[PUB-4] accepts references that go into the value, and shared definitions', () => {
    const tree = {
      $defs: {
        node: { properties: { next: { $ref: '#/$defs/node' }, list: { items: { $ref: '#/$defs/node' } } } },
      },
      anyOf: [{ $ref: '#/$defs/node' }, { $ref: '#/$defs/node' }],
    };
    expect(schemaProblems(tree)).toEqual([]);
    expect(validateAgainst(tree, { next: { next: { list: [{}] } } })).toEqual([]);
  });

  it('[PUB-4] refuses many large patterns, and finds them out without writing them out', () => {
    const pattern = (index: number) => `^${'x'.repeat(index)}.{0,4900}$`;
    const of = (count: number) => ({
      anyOf: Array.from({ length: count }, (_, index) => ({ pattern: pattern(index) })),
    });
    expect(schemaProblems(of(5))).toEqual([]);
    expect(schemaProblems(of(6))).toEqual([
      { pointer: '/anyOf/5/pattern', message: expect.stringContaining('too large together') },
    ]);
  });

  it('[PUB-4] refuses deep, huge and over-long schemas', () => {
    let deep: Json = {};
    for (let level = 0; level < 200_000; level += 1) deep = { not: deep };
    expect(schemaProblems(deep)).toEqual([{ pointer: '', message: expect.stringContaining('64 levels') }]);
    const wide = { oneOf: Array.from({ length: 10_000 }, () => ({})) };
    expect(schemaProblems(wide)).toEqual([
      { pointer: '', message: expect.stringContaining('5000 subschemas') },
    ]);
    const chain = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [
        `d${index}`,
        index === 0 ? {} : { $ref: `#/$defs/d${index - 1}` },
      ]),
    );
    expect(schemaProblems({ $defs: chain, $ref: '#/$defs/d999' })).toHaveLength(1);
    const many = {
      properties: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, 5])),
    };
    expect(schemaProblems(many)).toHaveLength(20);
  });
});
