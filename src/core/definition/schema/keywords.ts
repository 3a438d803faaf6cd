/** What the value of a keyword must be for the schema to be one ([PUB-4]). */
export type KeywordKind =
  | 'schema'
  | 'schemas'
  | 'schema map'
  | 'pattern map'
  | 'types'
  | 'values'
  | 'any'
  | 'number'
  | 'positive number'
  | 'count'
  | 'boolean'
  | 'text'
  | 'pattern'
  | 'names'
  | 'names map'
  | 'reference'
  | 'draft'
  | 'unsupported';

/**
 * The keywords of JSON Schema draft 2020-12. Names that are missing here are annotations of somebody else and are
 * ignored, as the draft says. `in place` in the second table marks schemas that judge the same value again.
 */
export const KEYWORDS: ReadonlyMap<string, KeywordKind> = new Map<string, KeywordKind>([
  ['$schema', 'draft'],
  ['$id', 'text'],
  ['$anchor', 'text'],
  ['$dynamicAnchor', 'text'],
  ['$ref', 'reference'],
  ['$dynamicRef', 'reference'],
  ['$recursiveRef', 'unsupported'],
  ['$comment', 'text'],
  ['$defs', 'schema map'],
  ['definitions', 'schema map'],
  ['allOf', 'schemas'],
  ['anyOf', 'schemas'],
  ['oneOf', 'schemas'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
  ['dependentSchemas', 'schema map'],
  ['prefixItems', 'schemas'],
  ['items', 'schema'],
  ['contains', 'schema'],
  ['properties', 'schema map'],
  ['patternProperties', 'pattern map'],
  ['additionalProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['unevaluatedItems', 'schema'],
  ['unevaluatedProperties', 'schema'],
  ['type', 'types'],
  ['enum', 'values'],
  ['const', 'any'],
  ['multipleOf', 'positive number'],
  ['maximum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['minimum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['maxLength', 'count'],
  ['minLength', 'count'],
  ['pattern', 'pattern'],
  ['maxItems', 'count'],
  ['minItems', 'count'],
  ['uniqueItems', 'boolean'],
  ['maxContains', 'count'],
  ['minContains', 'count'],
  ['maxProperties', 'count'],
  ['minProperties', 'count'],
  ['required', 'names'],
  ['dependentRequired', 'names map'],
  ['format', 'text'],
  ['title', 'text'],
  ['description', 'text'],
  ['deprecated', 'boolean'],
  ['readOnly', 'boolean'],
  ['writeOnly', 'boolean'],
  ['examples', 'values'],
]);

/** Keywords whose schemas judge the same value as the schema they stand in. */
export const IN_PLACE_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'];

export const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

/** Drafts whose schemas are read as 2020-12. What changed its form since then is refused by the keyword's kind. */
export const DRAFTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'https://json-schema.org/draft/2019-09/schema',
  'http://json-schema.org/draft-07/schema',
];
