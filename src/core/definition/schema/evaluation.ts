import type { Json } from '../../json.ts';
import type { Meter } from './linear-pattern.ts';
import type { PreparedSchema } from './prepare-schema.ts';

export interface Violation {
  /** JSON pointer into the value; empty for the whole value. */
  readonly pointer: string;
  readonly message: string;
}

/** What one validation shares from its first to its last schema. */
export interface Run {
  readonly prepared: PreparedSchema;
  readonly meter: Meter;
  readonly violations: Violation[];
}

/** The members and items that a successful schema has looked at; `unevaluated…` is about the others. */
export interface Evaluated {
  readonly members: Set<string>;
  readonly items: Set<number>;
}

/** One value under one schema. With `report` false only the verdict counts, and the first failure ends the work. */
export interface Check {
  readonly run: Run;
  readonly pointer: string;
  readonly depth: number;
  readonly report: boolean;
  readonly evaluated: Evaluated | null;
}

/** Judges a value by a schema; handed down so that the parts need not know the whole. */
export type Judge = (check: Check, schema: Json, value: Json) => boolean;

/** Most violations that are reported. */
const MAX_VIOLATIONS = 100;

/** Records a failure and answers false, so that a check can end with it. A costly message is made only when needed. */
export function fail(check: Check, message: string | (() => string)): false {
  if (check.report && check.run.violations.length < MAX_VIOLATIONS) {
    const text = typeof message === 'string' ? message : message();
    check.run.violations.push({ pointer: check.pointer, message: text });
  }
  return false;
}

/** The check of a member or item of the value: what is evaluated in there says nothing about this level. */
export function into(check: Check, part: string | number): Check {
  const name = typeof part === 'number' ? String(part) : part.replaceAll('~', '~0').replaceAll('/', '~1');
  return { ...check, pointer: `${check.pointer}/${name}`, depth: check.depth + 1, evaluated: null };
}

/** Takes from the meter; once it is empty every verdict is void. */
export function spend(check: Check, amount: number): void {
  check.run.meter.left -= amount;
}

/** True while the work goes on: either all is well so far, or more failures can be recorded. */
export function goesOn(check: Check, valid: boolean): boolean {
  const collects = check.report && check.run.violations.length < MAX_VIOLATIONS;
  return (valid || collects) && check.run.meter.left >= 0;
}
