import { canonicalJson, compareCodePoints } from '../../json.ts';

export type LiteralValue = null | boolean | number | string;

/** A JSON Schema as far as types of a programming language can say it. */
export type TypeShape =
  | { readonly kind: 'anything' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'null' | 'boolean' | 'integer' | 'number' | 'string' }
  /** An object about whose members nothing is said. */
  | { readonly kind: 'map' }
  | { readonly kind: 'literal'; readonly value: LiteralValue }
  | { readonly kind: 'list'; readonly element: TypeShape }
  /** Members are sorted by name. */
  | { readonly kind: 'record'; readonly members: readonly RecordMember[]; readonly isOpen: boolean }
  /** At least two members, none of them a union, anything or nothing. */
  | { readonly kind: 'union'; readonly members: readonly TypeShape[] };

export interface RecordMember {
  readonly name: string;
  readonly shape: TypeShape;
  readonly isRequired: boolean;
}

export const ANYTHING: TypeShape = { kind: 'anything' };
export const NOTHING: TypeShape = { kind: 'nothing' };

/** What fits at least one of several shapes. */
export function unionOf(shapes: readonly TypeShape[]): TypeShape {
  const members = new Map<string, TypeShape>();
  for (const shape of shapes.flatMap((each) => (each.kind === 'union' ? each.members : [each]))) {
    if (shape.kind === 'anything') return ANYTHING;
    if (shape.kind !== 'nothing') members.set(identityOf(shape), shape);
  }
  const [first, ...others] = members.values();
  if (first === undefined) return NOTHING;
  return others.length === 0 ? first : { kind: 'union', members: [first, ...others] };
}

/** The same text for the same shape. */
function identityOf(shape: TypeShape): string {
  switch (shape.kind) {
    case 'literal':
      return `literal ${canonicalJson(shape.value)}`;
    case 'list':
      return `list (${identityOf(shape.element)})`;
    case 'record': {
      const members = shape.members.map(
        ({ name, shape: inner, isRequired }) => `${JSON.stringify(name)} ${isRequired} ${identityOf(inner)}`,
      );
      return `record ${shape.isOpen} (${members.join(', ')})`;
    }
    case 'union':
      return `union (${shape.members.map(identityOf).join(', ')})`;
    case 'anything':
    case 'nothing':
    case 'null':
    case 'boolean':
    case 'integer':
    case 'number':
    case 'string':
    case 'map':
      return shape.kind;
  }
}

/** Pays for members and the characters of their names; false: too much is asked for, and the shape will be thrown away. */
export type Pay = (nodes: number, characters: number) => boolean;

/** What fits both of two shapes. */
export function bothOf(left: TypeShape, right: TypeShape, pay: Pay): TypeShape {
  if (!pay(1, 0)) return ANYTHING;
  if (left.kind === 'anything' || right.kind === 'nothing') return right;
  if (right.kind === 'anything' || left.kind === 'nothing') return left;
  if (left.kind === 'union') return unionOf(left.members.map((each) => bothOf(each, right, pay)));
  if (right.kind === 'union') return unionOf(right.members.map((each) => bothOf(left, each, pay)));
  if (left.kind === 'record' && right.kind === 'record') return bothRecords(left, right, pay);
  if (left.kind === 'list' && right.kind === 'list') {
    return { kind: 'list', element: bothOf(left.element, right.element, pay) };
  }
  if (covers(left, right)) return right;
  return covers(right, left) ? left : NOTHING;
}

type RecordShape = Extract<TypeShape, { kind: 'record' }>;

function bothRecords(left: RecordShape, right: RecordShape, pay: Pay): TypeShape {
  const names = [...left.members, ...right.members].map(({ name }) => name);
  const characters = names.reduce((sum, name) => sum + name.length, 0);
  if (!pay(names.length, characters)) return ANYTHING;
  const theirs = new Map(right.members.map((member) => [member.name, member]));
  const members = left.members.map((mine) => {
    const other = theirs.get(mine.name);
    if (other === undefined) return mine;
    theirs.delete(mine.name);
    const isRequired = mine.isRequired || other.isRequired;
    return { name: mine.name, shape: bothOf(mine.shape, other.shape, pay), isRequired };
  });
  return recordOf([...members, ...theirs.values()], left.isOpen && right.isOpen);
}

/** A record with its members in order; one without members is a map. */
export function recordOf(members: readonly RecordMember[], isOpen: boolean): TypeShape {
  if (members.length === 0) return { kind: 'map' };
  const sorted = [...members].sort((a, b) => compareCodePoints(a.name, b.name));
  return { kind: 'record', members: sorted, isOpen };
}

/** True when everything of the narrow shape fits the wide one, of shapes without parts. */
function covers(wide: TypeShape, narrow: TypeShape): boolean {
  if (narrow.kind === 'literal')
    return wide.kind === 'literal' ? wide.value === narrow.value : admits(wide, narrow.value);
  if (wide.kind === 'number' && narrow.kind === 'integer') return true;
  if (wide.kind === 'map' && narrow.kind === 'record') return true;
  return wide.kind === narrow.kind;
}

function admits(wide: TypeShape, value: LiteralValue): boolean {
  if (value === null) return wide.kind === 'null';
  if (typeof value === 'number') {
    return wide.kind === 'number' || (wide.kind === 'integer' && Number.isInteger(value));
  }
  return wide.kind === typeof value;
}
