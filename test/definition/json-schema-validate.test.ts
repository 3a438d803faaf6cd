import { describe, expect, it } from 'vitest';
import { schemaProblems, validateAgainst } from '../../src/core/definition/json-schema.ts';
import type { Json } from '../../src/core/json.ts';

const messages = (schema: Json, value: Json): readonly string[] =>
  validateAgainst(schema, value).map(({ pointer, message }) => `${pointer}: ${message}`);

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
      [': must match exactly one schema of oneOf, matches several'],
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
    [{ unevaluatedProperties: false }, [1], []],
    [{ then: false, else: false }, 1, []],
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
});
