import type { BindingSource } from './binding-source.ts';
import { memberName, type NamePool, namePool, typeName } from './names.ts';
import type { RecordMember, TypeShape } from './type-shape.ts';

/** A type as languages with classes say it: a named type, a collection of one, or any JSON value. */
export type ClassType =
  | { readonly kind: 'json' | 'boolean' | 'integer' | 'number' | 'string' }
  | { readonly kind: 'map' }
  | { readonly kind: 'list'; readonly element: FieldType }
  | { readonly kind: 'class'; readonly name: string };

export interface FieldType {
  readonly type: ClassType;
  readonly isNullable: boolean;
}

export interface ClassField extends FieldType {
  /** Name in the program; `key` is the one in JSON. */
  readonly name: string;
  readonly key: string;
  readonly isOptional: boolean;
}

/** A class with fields, or another name for a type that is none. */
export type ClassDefinition =
  | { readonly kind: 'class'; readonly name: string; readonly fields: readonly ClassField[] }
  | { readonly kind: 'alias'; readonly name: string; readonly target: FieldType };

interface Planning {
  readonly names: NamePool;
  readonly definitions: ClassDefinition[];
  readonly fieldsMax: number;
}

/**
 * The classes of the bindings, those that others use first. An object with more than `fieldsMax` members is a map. What is
 * not expressible is any JSON value.
 */
export function planClasses(
  { input, outputs }: BindingSource,
  options: { readonly reserved: readonly string[]; readonly fieldsMax: number },
): readonly ClassDefinition[] {
  const { reserved, fieldsMax } = options;
  const names = namePool(['SequenceInput', 'StepOutputs', ...reserved]);
  const planning: Planning = { names, definitions: [], fieldsMax };
  top(planning, 'SequenceInput', input, 'SequenceInput');
  const members = outputs.map(({ name, shape }) => ({ name, shape, isRequired: true }));
  top(planning, 'StepOutputs', { kind: 'record', members, isOpen: false }, 'StepOutput');
  return planning.definitions;
}

function top(planning: Planning, name: string, shape: TypeShape, prefix: string): void {
  if (shape.kind === 'record' && shape.members.length <= planning.fieldsMax) {
    define(planning, name, shape.members, prefix);
    return;
  }
  // The element of a list adds to the name itself.
  const target = fieldType(planning, shape, shape.kind === 'list' ? prefix : typeName(prefix, 'Value'));
  planning.definitions.push({ kind: 'alias', name, target });
}

function define(planning: Planning, name: string, members: readonly RecordMember[], prefix = name): void {
  const pool = namePool();
  const fields = members.map(
    (member): ClassField => ({
      ...fieldType(planning, member.shape, typeName(prefix, member.name)),
      name: pool.take(memberName(member.name)),
      key: member.name,
      isOptional: !member.isRequired,
    }),
  );
  planning.definitions.push({ kind: 'class', name, fields });
}

const JSON_VALUE: ClassType = { kind: 'json' };

/** `wanted` is the name that a class inside would like to have. */
function fieldType(planning: Planning, shape: TypeShape, wanted: string): FieldType {
  const members = shape.kind === 'union' ? shape.members : [shape];
  const others = members.filter((member) => !isNull(member));
  const isNullable = others.length < members.length;
  const [first, ...rest] = others;
  if (first === undefined) return { type: JSON_VALUE, isNullable };
  if (rest.length === 0) return { type: classType(planning, first, wanted), isNullable };
  // Several shapes of one scalar type, as an enumeration has them, are that type.
  const kinds = new Set(others.map(scalarKind));
  if (kinds.has('integer') && kinds.has('number')) kinds.delete('integer');
  const [kind] = kinds;
  const type = kinds.size === 1 && kind !== undefined && kind !== null ? { kind } : JSON_VALUE;
  return { type, isNullable };
}

function isNull(shape: TypeShape): boolean {
  return shape.kind === 'null' || (shape.kind === 'literal' && shape.value === null);
}

function scalarKind(shape: TypeShape): 'boolean' | 'integer' | 'number' | 'string' | null {
  switch (shape.kind) {
    case 'boolean':
    case 'integer':
    case 'number':
    case 'string':
      return shape.kind;
    case 'literal':
      if (typeof shape.value === 'number') return Number.isSafeInteger(shape.value) ? 'integer' : 'number';
      if (typeof shape.value === 'string') return 'string';
      return shape.value === null ? null : 'boolean';
    case 'anything':
    case 'nothing':
    case 'null':
    case 'map':
    case 'list':
    case 'record':
    case 'union':
      return null;
  }
}

function classType(planning: Planning, shape: TypeShape, wanted: string): ClassType {
  switch (shape.kind) {
    case 'map':
      return { kind: 'map' };
    case 'list':
      return { kind: 'list', element: fieldType(planning, shape.element, typeName(wanted, 'Item')) };
    case 'record': {
      if (shape.members.length > planning.fieldsMax) return { kind: 'map' };
      const name = planning.names.take(wanted);
      define(planning, name, shape.members);
      return { kind: 'class', name };
    }
    case 'boolean':
    case 'integer':
    case 'number':
    case 'string':
    case 'literal': {
      const kind = scalarKind(shape);
      return kind === null ? JSON_VALUE : { kind };
    }
    case 'anything':
    case 'nothing':
    case 'null':
    case 'union':
      return JSON_VALUE;
  }
}
