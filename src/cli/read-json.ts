import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { Advice } from '../core/advice.ts';
import { jsonSyntaxProblem } from '../core/json-door.ts';
import type { Json } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';

const AnyJson = z.json();

/** JSON from the command line: the text itself, `@file`, or `-` for standard input. */
export function readJsonArgument(argument: string, name: string): Result<Json, Advice> {
  if (argument === '-') return readJsonText(() => readFileSync(0, 'utf8'), 'standard input');
  if (argument.startsWith('@')) return readJsonFile(argument.slice(1));
  const parsed = parse(argument);
  if (parsed !== undefined) return ok(parsed);
  return err({
    message: `${name} is not JSON`,
    next: `Quote it for the shell: '{"key": "value"}' — or name a file with @file.json.`,
  });
}

export function readJsonFile(path: string): Result<Json, Advice> {
  return readJsonText(() => readFileSync(path, 'utf8'), path);
}

function readJsonText(read: () => string, name: string): Result<Json, Advice> {
  let text: string;
  try {
    text = read();
  } catch {
    return err({ message: `${name} cannot be read`, next: 'Check the path; it is relative to this folder.' });
  }
  const parsed = parse(text);
  if (parsed !== undefined) return ok(parsed);
  const problem = jsonSyntaxProblem(text);
  return err({
    message: `${name} is not JSON${problem === null ? '' : `: it ${problem}`}`,
    next: 'Correct the syntax; comments and commas at the end of a list are not allowed.',
  });
}

function parse(text: string): Json | undefined {
  try {
    return AnyJson.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
