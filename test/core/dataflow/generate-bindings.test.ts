import { describe, expect, it } from 'vitest';
import { type GeneratedBindings, generateBindings } from '../../../src/core/dataflow/generate-bindings.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { sha256Hex } from '../../../src/core/digest.ts';
import { BLOCKS, INPUT_SCHEMA } from './bindings-fixture.ts';
import { closed, documentOf, step } from './documents.ts';

function generated(blocks: readonly Json[], extra: JsonObject = {}): GeneratedBindings {
  const bindings = generateBindings(documentOf(blocks, extra));
  if (!bindings.ok) throw new Error(bindings.error);
  return bindings.value;
}

/** The TypeScript type of an input schema. */
function typeOf(schema: Json): string {
  const { typescript } = generated([step('a')], { input_schema: schema });
  return /^export type SequenceInput = (.*);$/m.exec(typescript)?.[1] ?? '';
}

describe('the schema bundle [API 4.2]', () => {
  it('has the input and one output per block of the main tree', () => {
    const inner = step('inner', { output_schema: { type: 'string' } });
    const blocks = [{ type: 'cancellation_scope', id: 'scope', blocks: [inner] }, step('a')];
    const { schema, sequenceSha256, generatorVersion } = generated(blocks, {
      input_schema: { type: 'object' },
      on_cancel: [step('hook')],
    });
    expect(generatorVersion).toBe('orch8-dataflow-v2');
    expect(sequenceSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(schema).toEqual({
      generator_version: 'orch8-dataflow-v2',
      sequence: { id: documentOf(blocks).id, name: 'parcel-return', version: 3, sha256: sequenceSha256 },
      input: { type: 'object' },
      outputs: { a: true, inner: { type: 'string' }, scope: true },
    });
    expect(generated([step('a')]).schema).toMatchObject({ input: true });
  });

  it('has a digest that follows the definition, not the order of its members or its status', () => {
    const digest = (blocks: readonly Json[], extra: JsonObject = {}): string =>
      generated(blocks, extra).sequenceSha256;
    const first = digest([step('a', { params: { x: 1, y: 2 } })]);
    expect(digest([step('a', { params: { y: 2, x: 1 }, cancellable: true })])).toBe(first);
    expect(digest([step('a', { params: { x: 1, y: 2 } })], { status: 'draft', deprecated: true })).toBe(
      first,
    );
    expect(digest([step('a', { params: { x: 1, y: 3 } })])).not.toBe(first);
  });
});

describe('the whole of what is generated [API 4.2]', () => {
  it('is the same to the byte for schemas whose members come in another order', () => {
    const of = (schema: JsonObject): string =>
      JSON.stringify(generated([step('a', { output_schema: schema })], { input_schema: schema }));
    const a = { type: 'string', minLength: 1 };
    const b = { items: { enum: [1, 2] }, type: 'array' };
    const there = of({ type: 'object', required: ['b'], properties: { b, a } });
    const back = { minLength: 1, type: 'string' };
    expect(of({ properties: { a: back, b }, required: ['b'], type: 'object' })).toBe(there);
  });
});

describe('generated TypeScript [API 4.2]', () => {
  it('writes objects with sorted members, optional ones marked, and an index when they are open', () => {
    expect(typeOf(closed({ b: { type: 'number' }, a: { type: 'string' } }, ['a']))).toBe(
      '{ "a": string; "b"?: number; }',
    );
    expect(typeOf({ type: 'object', properties: { a: { type: 'boolean' } } })).toBe(
      '{ "a"?: boolean; [key: string]: unknown; }',
    );
    expect(typeOf({ type: 'object' })).toBe('Record<string, unknown>');
    expect(typeOf({ properties: { a: true }, additionalProperties: false })).toBe('{ "a"?: unknown; }');
  });

  it('writes arrays, sorted enumerations and unions, and the boolean schemas', () => {
    expect(typeOf({ type: 'array', items: { enum: ['low', 'high'] } })).toBe('Array<"high" | "low">');
    expect(typeOf({ type: ['number', 'null'] })).toBe('null | number');
    expect(typeOf({ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'number' }] })).toBe(
      'number | string',
    );
    expect(typeOf({ oneOf: [{ const: 2 }, { const: 'a' }, { const: null }] })).toBe('"a" | 2 | null');
    expect(typeOf(true)).toBe('unknown');
    expect(typeOf({})).toBe('unknown');
    expect(typeOf(false)).toBe('never');
    expect(typeOf({ type: 'array' })).toBe('Array<unknown>');
  });

  it('narrows by allOf and by what is said beside a union', () => {
    const ab = {
      allOf: [closed({ a: { type: 'number' } }), { properties: { a: { type: 'integer' }, b: {} } }],
    };
    expect(typeOf(ab)).toBe('{ "a": number; "b"?: unknown; }');
    expect(typeOf({ type: 'string', anyOf: [{ enum: ['x', 1] }, { const: 'y' }] })).toBe('"x" | "y"');
    expect(typeOf({ ...closed({ a: true }, []), anyOf: [{ required: ['a'] }, {}] })).toBe(
      '{ "a"?: unknown; }',
    );
    expect(typeOf({ allOf: [{ type: 'string' }, { type: 'number' }] })).toBe('never');
  });

  it('writes one member per block', () => {
    const { typescript } = generated([step('b'), step('a "q"', { output_schema: { type: 'string' } })]);
    expect(typescript).toBe(
      [
        ...['export type SequenceInput = unknown;', '', 'export interface StepOutputs {'],
        ...['  "a \\"q\\"": string;', '  "b": unknown;', '}', ''],
      ].join('\n'),
    );
  });
});

describe('generated Python, Swift and Kotlin [API 4.2]', () => {
  const input = closed(
    { name: { type: 'string' }, nick: { type: ['string', 'null'] }, of: closed({ n: { type: 'integer' } }) },
    [...['name', 'of']],
  );
  const all = generated([step('look-up', { output_schema: { enum: ['b', 'a'] } })], { input_schema: input });

  it('is a TypedDict in call form, where nested dicts have names of their own', () => {
    expect(all.python).toBe(`from typing import Literal, NotRequired, Required, TypedDict, Union

SequenceInputOf = TypedDict("SequenceInputOf", {
    "n": Required[int],
})

SequenceInput = TypedDict("SequenceInput", {
    "name": Required[str],
    "nick": NotRequired[Union[None, str]],
    "of": Required[SequenceInputOf],
})

StepOutputs = TypedDict("StepOutputs", {
    "look-up": Required[Literal["a", "b"]],
})
`);
  });

  it('is a codable struct, where optional and nullable members have a question mark', () => {
    expect(all.swift).toContain('public enum JSONValue: Codable, Equatable {');
    expect(all.swift).toContain(`public struct SequenceInput: Codable, Equatable {
  public var name: String
  public var nick: String?
  public var of: SequenceInputOf

  enum CodingKeys: String, CodingKey {
    case name = "name"
    case nick = "nick"
    case of = "of"
  }
}`);
    expect(all.swift).toContain('  public var look_up: String\n');
  });

  it('is a serialisable data class', () => {
    expect(all.kotlin).toContain(`@Serializable
data class SequenceInput(
    @SerialName("name") val name: String,
    @SerialName("nick") val nick: String? = null,
    @SerialName("of") val of: SequenceInputOf,
)`);
    expect(all.kotlin).toContain('    @SerialName("look-up") val look_up: String,');
  });

  it('takes any JSON value for what it cannot express', () => {
    const odd = closed({
      a: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      b: true,
      c: { type: 'object' },
    });
    const { swift, kotlin, python } = generated([step('s')], { input_schema: { type: 'array', items: odd } });
    expect(swift).toContain(
      'public var a: JSONValue\n  public var b: JSONValue\n  public var c: [String: JSONValue]\n',
    );
    expect(swift).toContain('public typealias SequenceInput = [SequenceInputItem]');
    expect(kotlin).toContain('val a: JsonElement,');
    expect(kotlin).toContain('typealias SequenceInput = List<SequenceInputItem>');
    expect(python).toContain('SequenceInput = list[SequenceInputItem]');
  });

  it('escapes keys so that nothing in them can end their text', () => {
    const key = '"\\$x\n\u2028é';
    const { swift, kotlin, python } = generated([step('s')], { input_schema: closed({ [key]: true }) });
    expect(swift).toContain('"\\u{22}\\u{5c}$x\\u{a}\\u{2028}\\u{e9}"');
    expect(kotlin).toContain('"\\u0022\\u005c\\u0024x\\u000a\\u2028\\u00e9"');
    expect(python).toContain('"\\"\\\\$x\\n');
  });

  it('gives members and types that would clash different names, and quotes keywords', () => {
    const keys = closed({ 'a-b': true, a_b: true, class: true, '1': true, '---': true }, []);
    const { swift, kotlin } = generated([step('x'), step('X', { output_schema: keys })]);
    for (const name of ['a_b', 'a_b_2', '`class`', '_1', 'value']) {
      expect(swift).toContain(`  public var ${name}: `);
      expect(kotlin).toContain(` val ${name}: `);
    }
  });

  it('uses a map where Kotlin cannot have that many members', () => {
    const wide = closed(Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, true])));
    const { kotlin, swift } = generated([step('a', { output_schema: wide })], { input_schema: wide });
    expect(kotlin).toContain('typealias SequenceInput = Map<String, JsonElement>');
    expect(kotlin).toContain('val a: Map<String, JsonElement>,');
    expect(swift).toContain('public var k100: JSONValue');
  });
});

describe('what is generated', () => {
  it('is the same to the byte for the same definition [API 4.2]', () => {
    const once = generated(BLOCKS, { input_schema: INPUT_SCHEMA });
    expect(generated(structuredClone([...BLOCKS]), { input_schema: structuredClone(INPUT_SCHEMA) })).toEqual(
      once,
    );
    // A change here is a change of the generator, which then needs another version.
    const { typescript, python, swift, kotlin } = once;
    expect(
      [typescript, python, swift, kotlin].map((text) => sha256Hex(text).slice(0, 16)),
    ).toMatchInlineSnapshot(`
      [
        "f6ae5e7269dfb200",
        "9605fa00e7d1d0a9",
        "3ad4db77e8ce98b7",
        "39b019617120857d",
      ]
    `);
  });

  it('is refused for a schema of more than 32 levels or 4,096 nodes', () => {
    const nested = (levels: number): Json =>
      levels === 1 ? true : { type: 'array', items: nested(levels - 1) };
    const wide = (count: number): Json =>
      closed(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, true])));
    const outcome = (schema: Json): boolean =>
      generateBindings(documentOf([step('a', { output_schema: schema })])).ok;
    expect([outcome(nested(32)), outcome(nested(33))]).toEqual([true, false]);
    expect([outcome(wide(4095)), outcome(wide(4096))]).toEqual([true, false]);
    expect(generateBindings(documentOf([step('a', { output_schema: nested(33) })]))).toMatchObject({
      error: expect.stringContaining("block 'a'"),
    });
  });

  it('is refused, and quickly, for schemas that references make large', () => {
    const defs: Record<string, Json> = { d0: { type: 'string' } };
    for (let level = 1; level <= 25; level += 1) {
      defs[`d${level}`] = closed({
        a: { $ref: `#/$defs/d${level - 1}` },
        b: { $ref: `#/$defs/d${level - 1}` },
      });
    }
    const doubling = { $ref: '#/$defs/d25', $defs: defs };
    expect(generateBindings(documentOf([step('a')], { input_schema: doubling })).ok).toBe(false);
    const long = 'n'.repeat(10_000);
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`k${index}`, { $ref: '#/$defs/d' }]),
    );
    const repeated = { type: 'object', properties, $defs: { d: closed({ [long]: true }) } };
    expect(generateBindings(documentOf([step('a')], { input_schema: repeated })).ok).toBe(false);
    const wide = closed(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, true])));
    const anyOf = Array.from({ length: 1000 }, (_, index) => closed({ [`b${index}`]: true }));
    expect(generateBindings(documentOf([step('a')], { input_schema: { ...wide, anyOf } })).ok).toBe(false);
    const many = Array.from({ length: 40 }, (_, index) =>
      step(`s${index}`, { output_schema: { ...doubling, $ref: '#/$defs/d9' } }),
    );
    expect(generateBindings(documentOf(many)).ok).toBe(false);
  });

  it('ends a recursive schema where it comes back to itself', () => {
    const tree = { $ref: '#/$defs/t', $defs: { t: closed({ next: { $ref: '#/$defs/t' } }) } };
    expect(typeOf(tree)).toBe('{ "next": unknown; }');
  });
});
