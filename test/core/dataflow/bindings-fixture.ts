import type { Json, JsonObject } from '../../../src/core/json.ts';
import { closed, step } from './documents.ts';

/** Schemas with everything that the bindings know, and with names and values that are hard to write down. */
export const INPUT_SCHEMA: JsonObject = {
  type: 'object',
  required: ['parcel', 'lines', 'tree'],
  properties: {
    parcel: { type: 'string' },
    nick: { type: ['string', 'null'] },
    rush: { enum: ['low', 'high', null, 3, 1.5, true] },
    lines: { type: 'array', items: closed({ sku: { type: 'string' }, qty: { type: 'integer' } }, ['sku']) },
    tree: { $ref: '#/$defs/tree' },
    'ship-to': closed({ 'po box': { type: 'number' }, class: { const: 'x' }, '2nd': false }, []),
    '"$weird\\\u2028\n"': { type: 'boolean' },
    anything: true,
    note: { anyOf: [{ type: 'string' }, { type: 'number' }, closed({ a: { type: 'null' } })] },
    both: { allOf: [closed({ x: { type: 'number' } }), { properties: { x: { type: 'integer' }, y: {} } }] },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
    free: { type: 'object', additionalProperties: { type: 'string' } },
  },
  $defs: {
    tree: { type: 'object', properties: { next: { $ref: '#/$defs/tree' } }, additionalProperties: false },
  },
};

export const BLOCKS: readonly Json[] = [
  step('lookup', {
    output_schema: closed({ value_cents: { type: 'integer' }, 'ship to': closed({ zip: {} }) }),
  }),
  step('plain'),
  step('worth-it', { output_schema: { type: 'array', items: { enum: ['yes', 'no'] } } }),
  step('2', { output_schema: false }),
  step('Lookup', { output_schema: closed({ 'ship to': closed({ zip: { type: 'string' } }, []) }) }),
];
