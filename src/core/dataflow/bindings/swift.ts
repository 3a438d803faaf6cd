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
    'Protocol Type as associatedtype break case catch class continue default defer deinit do else enum extension fallthrough false ' +
    'fileprivate for func guard if import in init inout internal is let nil open operator private protocol public ' +
    'repeat rethrows return self Self static struct subscript super switch throw throws true try typealias var where while'
  ).split(' '),
);

/** Names of the standard library that a generated type must not take. */
const RESERVED = ['JSONValue', 'CodingKeys', 'String', 'Int', 'Double', 'Bool', 'Array', 'Codable'];

const JSON_VALUE = `public enum JSONValue: Codable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  public init(from decoder: Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  public func encode(to encoder: Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}`;

/** Types of the input and of the outputs as codable Swift structs. */
export function swiftBindings(source: BindingSource): string {
  const definitions = planClasses(source, { reserved: RESERVED, fieldsMax: Number.POSITIVE_INFINITY });
  return `${['import Foundation', JSON_VALUE, ...definitions.map(definitionText)].join('\n\n')}\n`;
}

function definitionText(definition: ClassDefinition): string {
  if (definition.kind === 'alias') {
    return `public typealias ${definition.name} = ${fieldTypeText(definition.target)}`;
  }
  const { name, fields } = definition;
  return [
    `public struct ${name}: Codable, Equatable {`,
    ...fields.map((field) => `  public var ${identifier(field.name)}: ${fieldText(field)}`),
    '',
    '  enum CodingKeys: String, CodingKey {',
    ...fields.map((field) => `    case ${identifier(field.name)} = ${stringText(field.key)}`),
    '  }',
    '}',
  ].join('\n');
}

function fieldText({ type, isNullable, isOptional }: ClassField): string {
  return fieldTypeText({ type, isNullable: isNullable || isOptional });
}

function fieldTypeText({ type, isNullable }: FieldType): string {
  return `${typeText(type)}${isNullable ? '?' : ''}`;
}

function typeText(type: ClassType): string {
  switch (type.kind) {
    case 'json':
      return 'JSONValue';
    case 'boolean':
      return 'Bool';
    case 'integer':
      return 'Int';
    case 'number':
      return 'Double';
    case 'string':
      return 'String';
    case 'map':
      return '[String: JSONValue]';
    case 'list':
      return `[${fieldTypeText(type.element)}]`;
    case 'class':
      return type.name;
  }
}

function identifier(name: string): string {
  return KEYWORDS.has(name) ? `\`${name}\`` : name;
}

/** A string literal: everything that is not plain ASCII is escaped, so that nothing in it can end it. */
function stringText(text: string): string {
  const inner = text.replaceAll(/[^ !#-[\]-~]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
  return `"${inner}"`;
}
