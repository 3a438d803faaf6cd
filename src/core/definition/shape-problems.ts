import type * as z from 'zod';
import type { Json } from '../json.ts';
import { isJsonArray, member } from '../json.ts';
import { BLOCK_TYPES } from './block.ts';
import { builtInParams } from './built-in-params.ts';
import { didYouMean } from './did-you-mean.ts';
import type { Path } from './path.ts';
import { formatPath, shorten } from './path.ts';
import { MAX_PROBLEMS, type Problem } from './problems.ts';

/** Turns what the schemas found into the words of the wire contract ([PUB-2], http-api.md 1.5). */
export function shapeProblems(issues: readonly z.core.$ZodIssue[], body: Json): readonly Problem[] {
  return issues.slice(0, MAX_PROBLEMS).map((issue) => shapeProblem(issue, body));
}

function shapeProblem(issue: z.core.$ZodIssue, body: Json): Problem {
  const path: Path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const found = valueAt(body, path);
  if (found === undefined) return { path: formatPath(path), message: `missing field \`${path.at(-1)}\`` };
  return { path: formatPath(path), message: wrongValue(issue, found) };
}

function wrongValue(issue: z.core.$ZodIssue, found: Json): string {
  if (issue.code === 'invalid_type') return `expected ${expectedType(issue.expected)}, got ${kindOf(found)}`;
  if (issue.code === 'invalid_value') return unknownValue('value', issue.values.map(String), found);
  // Among the unions of a document only that of the blocks has a discriminator.
  if (issue.code === 'invalid_union' && issue.discriminator !== undefined) {
    return unknownValue('block type', BLOCK_TYPES, found, handlerHint(found));
  }
  return issue.message;
}

/** Handlers are what people know by name, so one is taken for a type: no block type is what they mean then. */
function handlerHint(found: Json): string | null {
  if (typeof found !== 'string' || builtInParams(found) === undefined) return null;
  return `; '${found}' is a handler: write type 'step' and handler '${found}'`;
}

function unknownValue(
  noun: string,
  known: readonly string[],
  found: Json,
  hint: string | null = null,
): string {
  const choices = known.map((value) => `\`${value}\``).join(', ');
  if (typeof found !== 'string') return `expected one of ${choices}, got ${kindOf(found)}`;
  return `unknown ${noun} \`${shorten(found)}\`, expected one of ${choices}${hint ?? didYouMean(found, known)}`;
}

function expectedType(expected: string): string {
  switch (expected) {
    case 'int':
      return 'a whole number';
    case 'array':
    case 'object':
      return `an ${expected}`;
    default:
      return `a ${expected}`;
  }
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (isJsonArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'number' ? `the number ${value}` : `a ${typeof value}`;
}

function valueAt(body: Json, path: Path): Json | undefined {
  let value: Json | undefined = body;
  for (const part of path) {
    value = isJsonArray(value) ? value[Number(part)] : member(value, String(part));
  }
  return value;
}
