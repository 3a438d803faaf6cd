import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { BLOCK_TYPES } from '../../src/core/definition/block.ts';
import {
  BUILT_IN_PARAMS,
  type HandlerParams,
  type ParamFacts,
  paramTakes,
} from '../../src/core/definition/built-in-params.ts';
import { Block, SequenceDocument } from '../../src/core/definition/document.ts';
import { parseSequence } from '../../src/core/definition/parse-sequence.ts';
import { examplesOf, rowsOf, sectionOf } from './sections.ts';

const SEQUENCES = 'docs/sequences.md';
const HANDLERS = 'docs/handlers.md';

type Shape = Readonly<Record<string, z.core.$ZodType>>;

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault
    ? unwrapped(schema.unwrap())
    : schema;
}

/** The members of the objects inside a schema, lists and alternatives included; blocks have sections of their own. */
function innerShapes(schema: z.core.$ZodType): readonly Shape[] {
  const bare = unwrapped(schema);
  if (bare instanceof z.ZodObject) return [bare.shape];
  if (bare instanceof z.ZodArray) return innerShapes(bare.element);
  if (bare instanceof z.ZodUnion && !(bare instanceof z.ZodDiscriminatedUnion))
    return bare.options.flatMap(innerShapes);
  return [];
}

/** What a row lacks: itself, the default of the member, or that it is required. */
function rowFaults(
  cells: readonly string[] | undefined,
  schema: z.core.$ZodType,
  label: string,
): readonly string[] {
  if (cells === undefined) return [`${label} has no row`];
  const shown = cells[2] ?? '';
  if (schema instanceof z.ZodDefault) {
    const value: unknown = schema.def.defaultValue;
    const isPlain = typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string';
    return isPlain && !shown.includes(String(value)) ? [`${label} lacks its default ${value}`] : [];
  }
  if (schema instanceof z.ZodExactOptional) return /^required/.test(shown) ? [`${label} is optional`] : [];
  return /^(required|filled in)/.test(shown) ? [] : [`${label} is required`];
}

/** Members of a block, or of the document, that a section says nothing or something wrong of. */
function memberFaults(section: string, shape: Shape): readonly string[] {
  const rows = rowsOf(section, 'Member');
  return Object.entries(shape).flatMap(([name, schema]) => {
    if (name === 'type' || (name === 'id' && 'type' in shape)) return [];
    const own = rowsOf(section, `Member of \`${name}\``);
    const inner = innerShapes(schema).flatMap((members) => Object.entries(members));
    const innerFaults = inner.flatMap(([innerName, innerSchema]) => {
      if (own.size > 0) return rowFaults(own.get(innerName), innerSchema, `${name}.${innerName}`);
      const isNamed = new RegExp(`["\`]${innerName}["\`]`).test(rows.get(name)?.join(' ') ?? '');
      return isNamed ? [] : [`${name}.${innerName} is not named`];
    });
    return [...rowFaults(rows.get(name), schema, name), ...innerFaults];
  });
}

function cellsOf(facts: ParamFacts, needs: HandlerParams['needs'], name: string): readonly string[] {
  const group = needs.find((names) => names.includes(name));
  const others = (group ?? []).filter((other) => other !== name).map((other) => `\`${other}\``);
  const absent = group === undefined ? 'none' : ['required', ...others].join(', or ');
  const { default: value } = facts;
  const shown = typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
  return [`\`${name}\``, paramTakes(facts), value === undefined ? absent : `\`${shown}\``];
}

describe('docs/sequences.md', () => {
  it('names every member of the document, with its default', () => {
    const { interceptors, ...shape } = SequenceDocument.shape;
    expect(memberFaults(sectionOf(SEQUENCES, '## The document'), shape)).toEqual([]);
    const rows = rowsOf(sectionOf(SEQUENCES, '## Interceptors'), 'Member of `interceptors`');
    expect([...rows.keys()].sort()).toEqual(innerShapes(interceptors).flatMap(Object.keys).sort());
  });

  it.each(BLOCK_TYPES)('has a section of %s, with every member and its default', (type) => {
    const option = Block.options.find(({ shape }) => shape.type.value === type);
    expect(memberFaults(sectionOf(SEQUENCES, `## \`${type}\``), option?.shape ?? {})).toEqual([]);
    expect(sectionOf(SEQUENCES, '## All blocks')).toContain(`[\`${type}\`](#${type})`);
    expect(sectionOf(SEQUENCES, `## \`${type}\``)).toMatch(/\bUse it\b/);
  });

  it.each(examplesOf(SEQUENCES))('%s publishes without a warning', (_name, document) => {
    expect(parseSequence(document)).toMatchObject({ ok: true, value: { warnings: [] } });
  });

  it('has an example of every block', () => {
    const shown = examplesOf(SEQUENCES).map(([, document]) => JSON.stringify(document['blocks']));
    const lacking = BLOCK_TYPES.filter(
      (type) => !shown.some((text) => text.startsWith(`[{"type":"${type}"`)),
    );
    expect(lacking).toEqual([]);
  });
});

describe('docs/handlers.md', () => {
  it.each(Object.entries<HandlerParams>(BUILT_IN_PARAMS))(
    'has every param of %s with what it takes and its default, and an example',
    (handler, { params, needs }) => {
      const section = sectionOf(HANDLERS, `### \`${handler}\``);
      const rows = [...rowsOf(section, 'Param').values()].map((cells) => cells.slice(0, 3));
      expect(rows).toEqual(Object.entries(params).map(([name, facts]) => cellsOf(facts, needs, name)));
      expect(section).toContain(`"handler": "${handler}"`);
      expect(section).toMatch(/^Output: .* Failures: /m);
    },
  );

  it.each(examplesOf(HANDLERS))('%s publishes without a warning', (_name, document) => {
    expect(parseSequence(document)).toMatchObject({ ok: true, value: { warnings: [] } });
  });
});
