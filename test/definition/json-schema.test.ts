import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { schemaProblems, validateAgainst } from '../../src/core/definition/json-schema.ts';
import type { Json } from '../../src/core/json.ts';
import { documentOf, refusalOf, step, accepted } from './documents.ts';

const messages = (schema: Json, value: Json): readonly string[] =>
  validateAgainst(schema, value).map(({ pointer, message }) => `${pointer}: ${message}`);

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

describe('validating values', () => {
  it.each([
    [{ type: 'string' }, 5, [': must be string']],
    [{ type: ['string', 'null'] }, 5, [': must be string or null']],
    [{ type: 'integer' }, 5.5, [': must be integer']],
    [{ type: 'integer' }, 5.0, []],
    [{ type: 'number' }, '5', [': must be number']],
    [{ type: 'null' }, null, []],
    [{ type: 'array' }, {}, [': must be array']],
    [{ type: 'object' }, [], [': must be object']],
    [{ type: 'boolean' }, true, []],
    [false, 5, [': no value is allowed here']],
    [true, 5, []],
    [{ const: { a: [1] } }, { a: [1] }, []],
    [{ const: { a: 1 } }, { a: 2 }, [': must be {"a":1}']],
    [{ const: null }, 0, [': must be null']],
    [{ enum: [1, 'a', [2]] }, [2], []],
    [{ enum: [1, 'a'] }, 'b', [': must be one of [1,"a"]']],
    [{ minimum: 5 }, 4, [': must be >= 5']],
    [{ maximum: 5 }, 6, [': must be <= 5']],
    [{ exclusiveMinimum: 5 }, 5, [': must be > 5']],
    [{ exclusiveMaximum: 5 }, 5, [': must be < 5']],
    [{ multipleOf: 0.01 }, 4.35, []],
    [{ multipleOf: 2 }, 3, [': must be a multiple of 2']],
    [{ multipleOf: 1e-300 }, 1e300, [': must be a multiple of 1e-300']],
    [{ minLength: 2 }, '😀', [': must have at least 2 characters']],
    [{ maxLength: 1 }, '😀', []],
    [{ maxLength: 1 }, 'ab', [': must have at most 1 characters']],
    [{ pattern: '^a+$' }, 'ab', [': must match the pattern ^a+$']],
    [{ pattern: '^a+$', format: 'email' }, 7, []],
    [{ minItems: 1 }, [], [': must have at least 1 items']],
    [{ maxItems: 1 }, [1, 2], [': must have at most 1 items']],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [': must not have duplicate items'],
    ],
    [{ uniqueItems: true }, [1, '1', true], []],
    [{ uniqueItems: false }, [1, 1], []],
    [{ items: { type: 'string' } }, ['a', 1, 2], ['/1: must be string', '/2: must be string']],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a', 1], ['/1: no value is allowed here']],
    [{ prefixItems: [{ type: 'string' }] }, ['a', 1], []],
    [{ contains: { type: 'string' } }, [1], [': must contain at least 1 items that match contains, has 0']],
    [{ contains: { type: 'string' }, minContains: 0 }, [1], []],
    [
      { contains: true, maxContains: 1 },
      [1, 2],
      [': must contain at most 1 items that match contains, has 2'],
    ],
    [{ minProperties: 1 }, {}, [': must have at least 1 members']],
    [{ maxProperties: 0 }, { a: 1 }, [': must have at most 0 members']],
    [{ required: ['a', 'b'] }, {}, [": must have the member 'a'", ": must have the member 'b'"]],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, [": must have the member 'b'"]],
    [{ dependentRequired: { a: ['b'] } }, { c: 1 }, []],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1 }, [": must have the member 'b'"]],
    [{ dependentSchemas: { a: false } }, { b: 1 }, []],
    [{ dependentSchemas: { a: false } }, 5, []],
    [{ properties: { a: { type: 'string' } } }, { a: 1, b: 2 }, ['/a: must be string']],
    [{ additionalProperties: false }, { a: 1 }, [": must not have the member 'a'"]],
    [{ additionalProperties: { type: 'string' } }, { a: 1 }, ['/a: must be string']],
    [
      { patternProperties: { '^x': { type: 'string' } }, additionalProperties: false },
      { xa: 1 },
      ['/xa: must be string'],
    ],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, ['/ab: must have at most 1 characters']],
    [{ allOf: [{ minimum: 5 }, { maximum: 1 }] }, 3, [': must be >= 5', ': must be <= 1']],
    [{ anyOf: [{ minimum: 5 }, { maximum: 1 }] }, 3, [': must match at least one schema of anyOf']],
    [{ anyOf: [{ minimum: 5 }, {}] }, 3, []],
    [
      { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
      3,
      [': must match exactly one schema of oneOf, matches more'],
    ],
    [{ oneOf: [{ minimum: 5 }] }, 3, [': must match exactly one schema of oneOf, matches none']],
    [{ oneOf: [{ minimum: 5 }, { minimum: 1 }] }, 3, []],
    [{ not: { type: 'number' } }, 3, [': must not match the schema of not']],
    [{ not: { type: 'string' } }, 3, []],
    [
      { if: { minimum: 5 }, then: { multipleOf: 5 }, else: { multipleOf: 2 } },
      7,
      [': must be a multiple of 5'],
    ],
    [
      { if: { minimum: 5 }, then: { multipleOf: 5 }, else: { multipleOf: 2 } },
      3,
      [': must be a multiple of 2'],
    ],
    [{ if: { minimum: 5 }, then: false }, 3, []],
    [{ $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'string' } } }, 3, [': must be string']],
    [{ $ref: '#x', $defs: { a: { $anchor: 'x', type: 'string' } } }, 3, [': must be string']],
    [{ $dynamicRef: '#x', $defs: { a: { $dynamicAnchor: 'x', type: 'string' } } }, 3, [': must be string']],
    [
      { $id: 'https://a.example/s', $ref: 'https://a.example/s#/$defs/t', $defs: { t: false } },
      3,
      [': no value is allowed here'],
    ],
    [{ $id: 'urn:s#', $ref: '#/$defs/t', $defs: { t: false } }, 3, [': no value is allowed here']],
    [
      { $ref: 'inner', $defs: { i: { $id: 'inner', $ref: '#/$defs/t', $defs: { t: { minimum: 9 } } } } },
      3,
      [': must be >= 9'],
    ],
    [
      { unevaluatedProperties: false, properties: { a: true } },
      { a: 1, b: 1 },
      [": must not have the member 'b'"],
    ],
    [
      { unevaluatedProperties: { type: 'string' }, allOf: [{ properties: { a: true } }] },
      { a: 1, b: 1 },
      ['/b: must be string'],
    ],
    [
      { unevaluatedProperties: false, anyOf: [{ properties: { a: true } }, { properties: { b: true } }] },
      { a: 1, b: 1 },
      [],
    ],
    [
      { unevaluatedProperties: false, not: { not: { properties: { a: true } } } },
      { a: 1 },
      [": must not have the member 'a'"],
    ],
    [{ unevaluatedItems: false, prefixItems: [true], contains: { type: 'string' } }, [1, 'a'], []],
    [{ unevaluatedItems: { type: 'string' }, prefixItems: [true] }, [1, 2], ['/1: must be string']],
    [{ unevaluatedItems: false }, {}, []],
    [{ format: 'unheard-of', title: 't', default: 4, examples: [1], odd: { $ref: 'x' } }, 'x', []],
  ] as readonly [Json, Json, readonly string[]][])('judges by %j the value %j', (schema, value, expected) => {
    expect(schemaProblems(schema)).toEqual([]);
    expect(messages(schema, value)).toEqual(expected);
  });

  it.each([
    ['date-time', '2027-02-09T08:30:00Z', '2027-02-30T08:30:00Z'],
    ['date', '2027-02-09', '2027-02-30'],
    ['time', '08:30:00+01:00', '25:30:00Z'],
    ['uuid', '5D0c3f0a-9b1e-4f57-8a3c-1e2f60b7a911', '5d0c3f0a'],
    ['uri', 'mailto:a@b', 'no scheme'],
    ['hostname', 'a-b.example', '-a.example'],
    ['hostname', 'localhost', 'a..b'],
    ['email', 'a.b+c@d.example', 'a b@d.example'],
    ['email', 'a@b', '@b'],
    ['email', 'a@b', `${'x'.repeat(65)}@b`],
    ['ipv4', '10.0.0.255', '10.0.0.256'],
    ['ipv4', '0.0.0.0', '1.2.3'],
    ['ipv6', '::1', '1:2:3'],
    ['ipv6', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8:9'],
    ['ipv6', '::ffff:10.0.0.1', '::ffff:10.0.0.256'],
    ['ipv6', 'fe80::', '1::2::3'],
    ['ipv6', '::', 'x'.repeat(46)],
    ['ipv6', '1:2:3:4:5:6:1.2.3.4', 'g::1'],
    ['hostname', 'a', `${'a.'.repeat(127)}a`],
  ])('the format %s accepts %s and refuses %s', (format, good, bad) => {
    expect(validateAgainst({ format }, good)).toEqual([]);
    expect(messages({ format }, bad)).toEqual([`: must be a valid ${format}`]);
  });

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

  it('evil patterns are matched in linear time, for values and for names', () => {
    const text = `${'a'.repeat(50_000)}!`;
    expect(messages({ pattern: '^(a+)+$' }, text)).toEqual([': must match the pattern ^(a+)+$']);
    expect(messages({ patternProperties: { '^(a+)+$': false } }, { [text]: 1 })).toEqual([]);
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
