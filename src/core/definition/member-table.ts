import * as z from 'zod';

/**
 * What the schemas know about names, read out of them once, so that unknown members, nulls and depth can be handled
 * before the schemas run, with the schemas as the only place where members are listed.
 */
export type MemberTable =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Member> }
  | { readonly kind: 'list'; readonly item: () => MemberTable }
  | { readonly kind: 'block'; readonly byType: ReadonlyMap<string, () => MemberTable> }
  | { readonly kind: 'value' };

export interface Member {
  readonly table: () => MemberTable;
  /** True when the member may be absent; then null means absent (http-api.md 1.6). */
  readonly optional: boolean;
}

const VALUE: MemberTable = { kind: 'value' };
const tables = new Map<z.core.$ZodType, MemberTable>();

/** The table of a schema. Tables are made lazily because the schemas are recursive, and kept for good. */
export function memberTable(schema: z.core.$ZodType): MemberTable {
  const known = tables.get(schema);
  if (known !== undefined) return known;
  const table = readTable(schema);
  tables.set(schema, table);
  return table;
}

function readTable(schema: z.core.$ZodType): MemberTable {
  if (schema instanceof z.ZodObject) return objectTable(schema);
  if (schema instanceof z.ZodArray) {
    const item = schema.element;
    return { kind: 'list', item: () => memberTable(item) };
  }
  if (schema instanceof z.ZodDiscriminatedUnion) return blockTable(schema.options);
  if (schema instanceof z.ZodUnion) {
    const nested = schema.options.find((option) => option instanceof z.ZodObject);
    return nested === undefined ? VALUE : memberTable(nested);
  }
  const inner = unwrapped(schema);
  return inner === undefined ? VALUE : memberTable(inner);
}

function objectTable(schema: z.ZodObject): MemberTable {
  const members = new Map<string, Member>();
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  for (const [name, memberSchema] of Object.entries(shape)) {
    members.set(name, {
      table: () => memberTable(memberSchema),
      optional: memberSchema instanceof z.ZodExactOptional || memberSchema instanceof z.ZodDefault,
    });
  }
  return { kind: 'object', members };
}

function blockTable(options: readonly z.core.$ZodType[]): MemberTable {
  const byType = new Map<string, () => MemberTable>();
  for (const option of options) {
    if (!(option instanceof z.ZodObject)) continue;
    const shape: Readonly<Record<string, z.core.$ZodType>> = option.shape;
    const tag = shape['type'];
    if (tag instanceof z.ZodLiteral) byType.set(String(tag.value), () => memberTable(option));
  }
  return { kind: 'block', byType };
}

/** The schema inside an optional or a default; other wrappers have no members to know. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault) return schema.unwrap();
  return undefined;
}
