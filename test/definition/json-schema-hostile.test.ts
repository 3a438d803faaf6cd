import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateAgainst } from '../../src/core/definition/json-schema.ts';
import type { Json } from '../../src/core/json.ts';

const messages = (schema: Json, value: Json): readonly string[] =>
  validateAgainst(schema, value).map(({ pointer, message }) => `${pointer}: ${message}`);

describe('validating hostile or unusual values', () => {
  it('members named __proto__ are data', () => {
    const value: Json = JSON.parse('{"__proto__": 1}');
    const schema: Json = JSON.parse(
      '{"properties": {"__proto__": {"type": "string"}}, "required": ["__proto__"]}',
    );
    expect(messages(schema, value)).toEqual(['/__proto__: must be string']);
    expect(messages(schema, {})).toEqual([": must have the member '__proto__'"]);
    expect(messages({ required: ['constructor', 'toString'] }, {})).toHaveLength(2);
    expect(messages({ additionalProperties: false }, value)).toHaveLength(1);
  });

  it('pointers are escaped', () => {
    expect(
      messages({ additionalProperties: false, properties: { 'a/b~c': { type: 'null' } } }, { 'a/b~c': 1 }),
    ).toEqual(['/a~1b~0c: must be null']);
  });

  it('lists at most 100 violations and keeps messages short', () => {
    expect(
      validateAgainst(
        { items: { type: 'string' } },
        Array.from({ length: 5000 }, () => 1),
      ),
    ).toHaveLength(100);
    const [only] = validateAgainst({ enum: Array.from({ length: 5000 }, (_, index) => index) }, 'x');
    expect(only?.message.length).toBeLessThan(300);
  });

  it('a schema that cannot be used lets nothing pass', () => {
    expect(validateAgainst({ type: 'objekt' }, {})).toEqual([
      { pointer: '', message: expect.stringContaining('the schema cannot be used: type must be') },
    ]);
    expect(validateAgainst(5, {})).toHaveLength(1);
  });

  it('a schema is left as it is', () => {
    const schema = Object.freeze({ $defs: Object.freeze({ a: Object.freeze({}) }), $ref: '#/$defs/a' });
    expect(validateAgainst(schema, 1)).toEqual([]);
    expect(Reflect.ownKeys(schema)).toEqual(['$defs', '$ref']);
  });

  it('a value that is nested too deeply is refused without recursion', () => {
    let value: Json = [];
    for (let level = 0; level < 200_000; level += 1) value = [value];
    expect(validateAgainst({ items: { $ref: '#' } }, value)).toEqual([
      { pointer: '', message: 'the value is nested too deeply to be checked' },
    ]);
  });

  it('the deepest value that is walked ends with a verdict or gives up, and never exhausts the stack', () => {
    let value: Json = 1;
    for (let level = 0; level < 500; level += 1) value = { a: value };
    const schema = { allOf: [{ anyOf: [{ properties: { a: { $ref: '#' } } }] }] };
    expect(validateAgainst(schema, value)).toHaveLength(1);
  });

  it('work that doubles with each level of the value runs out', () => {
    const twice = { properties: { a: { $ref: '#' } } };
    let value: Json = {};
    for (let level = 0; level < 60; level += 1) value = { a: value };
    expect(validateAgainst({ allOf: [twice, twice] }, value)).toEqual([
      { pointer: '', message: 'the schema is too costly to check this value against' },
    ]);
  });

  it('work that doubles with each reference runs out', () => {
    const defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => {
        const $ref = `#/$defs/d${index - 1}`;
        return [`d${index}`, index === 0 ? {} : { allOf: [{ $ref }, { $ref }] }];
      }),
    );
    expect(validateAgainst({ $defs: defs, $ref: '#/$defs/d39' }, 1)).toHaveLength(1);
  });

  it('a choice that a tag decides costs the same however deep it is nested', () => {
    const node = (kind: string) => ({
      type: 'object',
      required: ['kind'],
      properties: { next: { $ref: '#' }, kind: { const: kind } },
    });
    const schema = { oneOf: [node('a'), node('b'), node('c')] };
    let value: Json = { kind: 'a' };
    for (let level = 0; level < 60; level += 1) value = { next: value, kind: 'c' };
    expect(validateAgainst(schema, value)).toEqual([]);
  });

  it('evil patterns are matched in linear time, for values and for names', () => {
    const text = `${'a'.repeat(50_000)}!`;
    expect(messages({ pattern: '^(a+)+$' }, text)).toEqual([': must match the pattern ^(a+)+$']);
    expect(messages({ patternProperties: { '^(a+)+$': false } }, { [text]: 1 })).toEqual([]);
  });

  it('a reference and a dynamic reference of one schema both count', () => {
    const schema = {
      $ref: '#/$defs/a',
      $dynamicRef: '#/$defs/b',
      $defs: { a: { minimum: 5 }, b: { multipleOf: 2 } },
    };
    expect(messages(schema, 3)).toEqual([': must be >= 5', ': must be a multiple of 2']);
    expect(
      messages({ anyOf: [{ $ref: '#/$defs/c' }], $defs: { ...schema.$defs, c: schema } }, 3),
    ).toHaveLength(1);
  });

  it('many choices for many wrong values cost no more than the violations that are listed', () => {
    const schema = { items: { enum: Array.from({ length: 4000 }, (_, index) => ({ index })) } };
    expect(
      validateAgainst(
        schema,
        Array.from({ length: 20_000 }, () => ({})),
      ),
    ).toHaveLength(100);
  });

  it('large arrays are compared by text and not pair by pair', () => {
    const value = Array.from({ length: 50_000 }, (_, index) => ({ index }));
    expect(validateAgainst({ uniqueItems: true }, value)).toEqual([]);
  });
});

describe('agreement with another validator', () => {
  const leaf = fc.oneof(
    fc.record({ type: fc.constantFrom('string', 'integer', 'number', 'object', 'array', 'null', 'boolean') }),
    fc.record({ minimum: fc.integer({ min: -3, max: 3 }) }),
    fc.record({ maxLength: fc.nat(3) }),
    fc.record({ pattern: fc.constantFrom('^a', 'b$', '[0-9]') }),
    fc.record({ required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }) }),
    fc.record({ enum: fc.array(fc.constantFrom<Json>(1, 'a', null, [], {}), { minLength: 1 }) }),
    fc.record({ const: fc.constantFrom<Json>(1, 'a', [1], { a: 1 }) }),
    fc.record({ minItems: fc.nat(2), uniqueItems: fc.boolean() }),
    fc.boolean(),
  );
  const schema = fc.letrec<{ s: Json }>((tie) => ({
    s: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.record({
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('s')),
        additionalProperties: tie('s'),
      }),
      fc.record({ items: tie('s'), prefixItems: fc.array(tie('s'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ allOf: fc.array(tie('s'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ anyOf: fc.array(tie('s'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ oneOf: fc.array(tie('s'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: tie('s') }),
      fc.record({ if: tie('s'), then: tie('s'), else: tie('s') }),
      fc.record({ propertyNames: tie('s') }),
      fc.record({ dependentSchemas: fc.dictionary(fc.constantFrom('a', 'b'), tie('s')) }),
    ),
  })).s;
  const value = fc.letrec<{ v: Json }>((tie) => ({
    v: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(0, 1, -2, 1.5, 'a', 'ab', '1', null, true),
      fc.array(tie('v'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('v')),
    ),
  })).v;

  it('random schemas give the same verdict on random values', () => {
    fc.assert(
      fc.property(schema, value, (judge, subject) => {
        const copy = JSON.parse(JSON.stringify(judge));
        const theirs = new Validator(copy, '2020-12').validate(subject).valid;
        expect(validateAgainst(judge, subject).length === 0).toBe(theirs);
      }),
      { numRuns: 2000 },
    );
  });
});
