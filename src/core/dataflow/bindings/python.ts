import { compareCodePoints } from '../../json.ts';
import type { BindingSource } from './binding-source.ts';
import { type NamePool, namePool, typeName } from './names.ts';
import type { LiteralValue, RecordMember, TypeShape } from './type-shape.ts';

const TYPING = ['Any', 'Literal', 'Never', 'NotRequired', 'Required', 'TypedDict', 'Union'];

interface File {
  readonly names: NamePool;
  /** Definitions in the order in which they use each other. */
  readonly definitions: string[];
}

/** Types of the input and of the outputs in Python 3.11 and later. */
export function pythonBindings({ input, outputs }: BindingSource): string {
  const file: File = { names: namePool(['SequenceInput', 'StepOutputs', ...TYPING]), definitions: [] };
  const isRecord = input.kind === 'record';
  if (isRecord) define(file, 'SequenceInput', input.members);
  else file.definitions.push(`SequenceInput = ${typeText(file, input, 'SequenceInput')}`);
  const rows = outputs.map(({ name, shape }) => ({ name, shape, isRequired: true }));
  define(file, 'StepOutputs', rows, 'StepOutput');
  const body = file.definitions.join('\n\n');
  const used = TYPING.filter((name) => new RegExp(`\\b${name}\\b`).test(body));
  return `from typing import ${used.join(', ')}\n\n${body}\n`;
}

/** Adds a dict type; those of its members come before it. */
function define(file: File, name: string, members: readonly RecordMember[], prefix = name): void {
  const rows = members.map(({ name: key, shape, isRequired }) => {
    const type = typeText(file, shape, typeName(prefix, key));
    return `    ${JSON.stringify(key)}: ${isRequired ? 'Required' : 'NotRequired'}[${type}],`;
  });
  file.definitions.push([`${name} = TypedDict(${JSON.stringify(name)}, {`, ...rows, '})'].join('\n'));
}

/** `wanted` is the name that a dict inside would like to have. */
function typeText(file: File, shape: TypeShape, wanted: string): string {
  switch (shape.kind) {
    case 'anything':
      return 'Any';
    case 'nothing':
      return 'Never';
    case 'null':
      return 'None';
    case 'boolean':
      return 'bool';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'string':
      return 'str';
    case 'map':
      return 'dict[str, Any]';
    case 'literal':
      return unionText([], [shape.value]);
    case 'list':
      return `list[${typeText(file, shape.element, typeName(wanted, 'Item'))}]`;
    case 'record': {
      const name = file.names.take(wanted);
      define(file, name, shape.members);
      return name;
    }
    case 'union': {
      const literals = shape.members.flatMap((each) => (each.kind === 'literal' ? [each.value] : []));
      const others = shape.members.filter(({ kind }) => kind !== 'literal');
      return unionText(
        others.map((each) => typeText(file, each, wanted)),
        literals,
      );
    }
  }
}

/** Numbers with a fraction cannot be literals in Python, and count as `float`. */
function unionText(types: readonly string[], values: readonly LiteralValue[]): string {
  const exact = values.filter((value) => typeof value !== 'number' || Number.isSafeInteger(value));
  const literals = exact.map(literalText).sort(compareCodePoints);
  const parts = [
    ...types,
    ...(literals.length === 0 ? [] : [`Literal[${literals.join(', ')}]`]),
    ...(exact.length < values.length ? ['float'] : []),
  ];
  const [first = 'Never', ...rest] = [...new Set(parts)].sort(compareCodePoints);
  return rest.length === 0 ? first : `Union[${[first, ...rest].join(', ')}]`;
}

/** JSON's escapes are Python's as well. */
function literalText(value: LiteralValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'number' ? String(value + 0) : JSON.stringify(value);
}
