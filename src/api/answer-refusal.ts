import * as z from 'zod';
import type { Json } from '../core/json.ts';
import type { Refusal } from '../engine/refusal.ts';
import type { AnswerLimit } from './answer-limit.ts';
import type { Route } from './route.ts';

/**
 * 413 `answer_too_large`, with what the caller can do. What a write has done stays done, which the details say. Loaded when it
 * is needed, which is hardly ever (docs/decisions/0014).
 *
 * @param bytes null: more than can be told.
 */
export function answerRefusal(
  { method, query, inParts }: Pick<Route, 'method' | 'query' | 'inParts'>,
  bytes: number | null,
  limit: AnswerLimit,
): Refusal {
  const carriedOut = method !== 'GET';
  const size = bytes === null ? {} : { bytes };
  const details: Json = { ...size, max_bytes: limit.maxBytes, carried_out: carriedOut };
  const what = `the answer is larger than the ${limit.maxBytes} bytes that can be sent`;
  const elsewhere = limit.advice === undefined ? '' : `, or ${limit.advice}`;
  const part = inParts === null ? 'ask for a part of it' : `ask for its parts by GET ${inParts}`;
  const less = takes(query, 'limit') ? `ask for less with a smaller \`limit\`${wayOn(query)}` : part;
  const advice = carriedOut ? 'the request was carried out, so read what it has left' : `${less}${elsewhere}`;
  return { kind: 'payload_too_large', code: 'answer_too_large', message: `${what}; ${advice}`, details };
}

/** How to come to what lies behind, where the list says so. */
function wayOn(query: z.ZodType): string {
  const name = ['cursor', 'offset', 'before'].find((candidate) => takes(query, candidate));
  return name === undefined ? '' : ` and go on with \`${name}\``;
}

/** A schema that makes something of its parameters has them at its beginning. */
function takes(query: z.ZodType, parameter: string): boolean {
  if (query instanceof z.ZodPipe) return query.in instanceof z.ZodType && takes(query.in, parameter);
  return query instanceof z.ZodObject && Object.hasOwn(query.shape, parameter);
}
