import type { Json } from '../../json.ts';
import { isJsonArray, isJsonObject } from '../../json.ts';
import { DRAFTS, type KeywordKind, TYPES } from './keywords.ts';

/** Why a value does not fit its keyword, or null. Schemas inside the value are looked at by the caller. */
export function keywordProblem(keyword: string, kind: KeywordKind, value: Json): string | null {
  if (kind === 'unsupported') return `${keyword} is not supported, use $ref`;
  if (keyword === 'items' && isJsonArray(value))
    return 'items is a schema; use prefixItems for a list of schemas';
  if (fits(kind, value)) return null;
  if (kind === 'draft') return '$schema must name draft 2020-12';
  return `${keyword} must be ${EXPECTED[kind]}`;
}

const EXPECTED: Readonly<Record<Exclude<KeywordKind, 'draft' | 'unsupported'>, string>> = {
  schema: 'a schema (an object or a boolean)',
  schemas: 'a non-empty array of schemas',
  'schema map': 'an object of schemas',
  'pattern map': 'an object of schemas',
  types: `one of ${TYPES.join(', ')}, or a non-empty array of them without duplicates`,
  values: 'an array',
  any: 'a value',
  number: 'a number',
  'positive number': 'a number > 0',
  count: 'a whole number >= 0',
  boolean: 'a boolean',
  text: 'a string',
  pattern: 'a string',
  names: 'an array of strings without duplicates',
  'names map': 'an object of arrays of strings without duplicates',
  reference: 'a string',
};

function fits(kind: Exclude<KeywordKind, 'unsupported'>, value: Json): boolean {
  switch (kind) {
    case 'schema':
      return isJsonObject(value) || typeof value === 'boolean';
    case 'schemas':
      return isJsonArray(value) && value.length > 0;
    case 'schema map':
    case 'pattern map':
      return isJsonObject(value);
    case 'types':
      return isJsonArray(value) ? value.length > 0 && isTypeList(value) : isTypeList([value]);
    case 'values':
      return isJsonArray(value);
    case 'any':
      return true;
    case 'number':
      return typeof value === 'number';
    case 'positive number':
      return typeof value === 'number' && value > 0;
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0;
    case 'boolean':
      return typeof value === 'boolean';
    case 'text':
    case 'pattern':
    case 'reference':
      return typeof value === 'string';
    case 'names':
      return isNameList(value);
    case 'names map':
      return isJsonObject(value) && Object.values(value).every(isNameList);
    case 'draft':
      return typeof value === 'string' && DRAFTS.includes(value.replace(/#$/, ''));
  }
}

function isTypeList(values: readonly Json[]): boolean {
  return isNameList(values) && values.every((value) => typeof value === 'string' && TYPES.includes(value));
}

function isNameList(value: Json): boolean {
  if (!isJsonArray(value)) return false;
  return value.every((name) => typeof name === 'string') && new Set(value).size === value.length;
}
