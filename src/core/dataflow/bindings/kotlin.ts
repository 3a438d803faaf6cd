import type { BindingSource } from './binding-source.ts';
import {
  type ClassDefinition,
  type ClassField,
  type ClassType,
  type FieldType,
  planClasses,
} from './class-plan.ts';

const KEYWORDS = new Set(
  (
    'as break class continue do else false for fun if in interface is null object package return super this throw true ' +
    'try typealias typeof val var when while'
  ).split(' '),
);

/** Names that the generated code uses itself. */
const RESERVED = [
  'JsonElement',
  'SerialName',
  'Serializable',
  'String',
  'Long',
  'Double',
  'Boolean',
  'List',
  'Map',
];

/** A constructor of the JVM takes 255 slots, of which a double takes two and the defaults some. */
const FIELDS_MAX = 100;

const HEAD = [
  'import kotlinx.serialization.SerialName',
  'import kotlinx.serialization.Serializable',
  'import kotlinx.serialization.json.JsonElement',
].join('\n');

/** Types of the input and of the outputs as serialisable Kotlin data classes. */
export function kotlinBindings(source: BindingSource): string {
  const definitions = planClasses(source, { reserved: RESERVED, fieldsMax: FIELDS_MAX });
  return `${[HEAD, ...definitions.map(definitionText)].join('\n\n')}\n`;
}

function definitionText(definition: ClassDefinition): string {
  if (definition.kind === 'alias') {
    return `typealias ${definition.name} = ${fieldTypeText(definition.target)}`;
  }
  const fields = definition.fields.map(fieldText);
  return ['@Serializable', `data class ${definition.name}(`, ...fields, ')'].join('\n');
}

function fieldText({ name, key, type, isNullable, isOptional }: ClassField): string {
  const declared = fieldTypeText({ type, isNullable: isNullable || isOptional });
  const identifier = KEYWORDS.has(name) ? `\`${name}\`` : name;
  return `    @SerialName(${stringText(key)}) val ${identifier}: ${declared}${isOptional ? ' = null' : ''},`;
}

function fieldTypeText({ type, isNullable }: FieldType): string {
  return `${typeText(type)}${isNullable ? '?' : ''}`;
}

function typeText(type: ClassType): string {
  switch (type.kind) {
    case 'json':
      return 'JsonElement';
    case 'boolean':
      return 'Boolean';
    case 'integer':
      return 'Long';
    case 'number':
      return 'Double';
    case 'string':
      return 'String';
    case 'map':
      return 'Map<String, JsonElement>';
    case 'list':
      return `List<${fieldTypeText(type.element)}>`;
    case 'class':
      return type.name;
  }
}

/** A string literal: everything that is not plain ASCII is escaped by its UTF-16 units, and so is what begins a template. */
function stringText(text: string): string {
  const inner = text.replaceAll(/[^ !#%-[\]-~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${inner}"`;
}
