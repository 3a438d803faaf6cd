import type * as z from 'zod';
import { isJsonArray, isJsonObject, type Json } from '../core/json.ts';
import { refuse, type Refused } from '../engine/refusal.ts';

/** The most problems that one answer lists. */
const MAX_DETAILS = 100;

/** 422 for a body of the wrong shape; the text names the first problem, the details list all with their pointers. */
export function bodyProblem(error: z.ZodError, body: Json | undefined): Refused {
  return problem('unprocessable_entity', error, body);
}

/** 400 for a path or query parameter that is missing or malformed. */
export function parameterProblem(error: z.ZodError, parameters: Readonly<Record<string, string>>): Refused {
  return problem('invalid_argument', error, parameters);
}

function problem(
  kind: 'invalid_argument' | 'unprocessable_entity',
  error: z.ZodError,
  input: Json | undefined,
): Refused {
  const problems = error.issues.slice(0, MAX_DETAILS).map((issue) => describe(issue, input));
  const message = problems[0]?.message ?? 'does not fit the expected shape';
  return refuse(kind, message, {
    code: 'invalid_shape',
    details: problems.map(({ message: text, pointer }) => ({ pointer, message: text })),
  });
}

function describe(
  issue: z.core.$ZodIssue,
  input: Json | undefined,
): { readonly message: string; readonly pointer: string } {
  const path = issue.path.map(String);
  const pointer = path.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  const last = path.at(-1);
  // What is wrong with one element of a list is told in the words of all other refusals: `instances[3]: …`.
  const [list, index] = issue.path;
  const isElement = typeof index === 'number';
  const element = isElement ? `${String(list)}[${index}]: ` : '';
  if (last !== undefined && isAbsent(input, path))
    return { message: `${element}missing field \`${last}\``, pointer };
  const inner = isElement ? path.slice(2) : path;
  const place = inner.length === 0 ? '' : `${inner.join('.')}: `;
  return { message: `${element}${place}${issue.message}`, pointer };
}

/** True when nothing stands at the path; zod reports an absent member as one of the wrong type. */
function isAbsent(input: Json | undefined, path: readonly string[]): boolean {
  let value: Json | undefined = input;
  for (const segment of path) {
    if (isJsonArray(value)) value = value[Number(segment)];
    else if (isJsonObject(value)) value = Object.hasOwn(value, segment) ? value[segment] : undefined;
    else return false;
  }
  return value === undefined;
}
