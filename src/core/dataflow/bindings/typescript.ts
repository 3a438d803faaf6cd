import { canonicalJson, compareCodePoints } from '../../json.ts';
import type { BindingSource } from './binding-source.ts';
import type { RecordMember, TypeShape } from './type-shape.ts';

/** Types of the input and of the outputs in TypeScript. */
export function typescriptBindings({ input, outputs }: BindingSource): string {
  const rows = outputs.map(({ name, shape }) => `  ${JSON.stringify(name)}: ${typeText(shape)};`);
  return [
    `export type SequenceInput = ${typeText(input)};`,
    '',
    'export interface StepOutputs {',
    ...rows,
    '}',
    '',
  ].join('\n');
}

function typeText(shape: TypeShape): string {
  switch (shape.kind) {
    case 'anything':
      return 'unknown';
    case 'nothing':
      return 'never';
    case 'null':
    case 'boolean':
    case 'number':
    case 'string':
      return shape.kind;
    case 'integer':
      return 'number';
    case 'map':
      return 'Record<string, unknown>';
    case 'literal':
      return canonicalJson(shape.value);
    case 'list':
      return `Array<${typeText(shape.element)}>`;
    case 'record':
      return `{ ${shape.members.map(memberText).join(' ')}${shape.isOpen ? ' [key: string]: unknown;' : ''} }`;
    case 'union':
      return [...new Set(shape.members.map(typeText))].sort(compareCodePoints).join(' | ');
  }
}

function memberText({ name, shape, isRequired }: RecordMember): string {
  return `${JSON.stringify(name)}${isRequired ? '' : '?'}: ${typeText(shape)};`;
}
