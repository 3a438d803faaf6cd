import { err, ok, type Result } from '../../result.ts';
import { type PatternNode, readPattern } from './pattern-syntax.ts';

/** Most instructions of one pattern; counted repeats are written out, so `.{0,5000}` alone needs 10,000. */
const MAX_INSTRUCTIONS = 10_000;

/** A test of one code point. Answers for ASCII are remembered, which is nearly all that is ever asked. */
type CodePointTest = (codePoint: number, text: string) => boolean;

type Instruction =
  | { readonly kind: 'one'; readonly matches: CodePointTest }
  | { readonly kind: 'assert'; readonly what: 'start' | 'end' | 'word-edge' | 'no-word-edge' }
  | { readonly kind: 'split'; readonly other: number }
  | { readonly kind: 'jump'; readonly to: number }
  | { readonly kind: 'match' };

/** What a check may still spend. Once `left` is below zero every answer is void and the caller gives up. */
export interface Meter {
  left: number;
}

/** A compiled pattern. Matching takes time linear in the text, and takes what it costs from the meter. */
export interface LinearPattern {
  readonly matches: (text: string, meter: Meter) => boolean;
}

interface Builder {
  readonly program: (Instruction | undefined)[];
  /** One test per distinct source: `.{0,5000}` must not compile 5,000 expressions. */
  readonly tests: Map<string, CodePointTest>;
}

/** Compiles a pattern of ECMAScript syntax (flag `u`), or says why it is refused. */
export function compilePattern(source: string): Result<LinearPattern, string> {
  const tree = readPattern(source);
  if (!tree.ok) return tree;
  const builder: Builder = { program: [], tests: new Map() };
  if (!emit(builder, tree.value)) return err('the pattern is too large when its repeats are written out');
  const program = [...builder.program, { kind: 'match' } as const];
  return ok({ matches: (text, meter) => search(program, text, meter) });
}

/** Appends the instructions of a node; false when the program would become too large. */
function emit(builder: Builder, node: PatternNode): boolean {
  const { program } = builder;
  if (program.length > MAX_INSTRUCTIONS) return false;
  switch (node.kind) {
    case 'one':
      program.push({ kind: 'one', matches: codePointTest(builder, node.source) });
      return true;
    case 'assert':
      program.push({ kind: 'assert', what: node.what });
      return true;
    case 'sequence':
      return node.parts.every((part) => emit(builder, part));
    case 'choice':
      return emitChoice(builder, node.options);
    case 'repeat':
      return emitRepeat(builder, node);
  }
}

function emitChoice(builder: Builder, options: readonly PatternNode[]): boolean {
  const { program } = builder;
  const jumps: number[] = [];
  for (const [index, option] of options.entries()) {
    const last = index === options.length - 1;
    const split = last ? null : reserve(program);
    if (!emit(builder, option)) return false;
    if (!last) jumps.push(reserve(program));
    if (split !== null) program[split] = { kind: 'split', other: program.length };
  }
  for (const jump of jumps) program[jump] = { kind: 'jump', to: program.length };
  return true;
}

function emitRepeat(
  builder: Builder,
  { part, least, most }: Extract<PatternNode, { kind: 'repeat' }>,
): boolean {
  const { program } = builder;
  // A part that emits nothing would make no progress towards the size limit, however often it is repeated.
  const start = program.length;
  for (let copy = 0; copy < least; copy += 1) {
    if (!emit(builder, part)) return false;
    if (program.length === start) return true;
  }
  if (most === Infinity) {
    const split = reserve(program);
    if (!emit(builder, part)) return false;
    program.push({ kind: 'jump', to: split });
    program[split] = { kind: 'split', other: program.length };
    return true;
  }
  const splits: number[] = [];
  for (let copy = least; copy < most; copy += 1) {
    splits.push(reserve(program));
    if (!emit(builder, part)) return false;
  }
  for (const split of splits) program[split] = { kind: 'split', other: program.length };
  return true;
}

function reserve(program: (Instruction | undefined)[]): number {
  program.push(undefined);
  return program.length - 1;
}

/** The built-in engine decides about single code points, where it has nothing to backtrack over. */
function codePointTest(builder: Builder, source: string): CodePointTest {
  const made = builder.tests.get(source);
  if (made !== undefined) return made;
  const single = new RegExp(`^${source}$`, 'u');
  const ascii: (boolean | undefined)[] = [];
  const test: CodePointTest = (codePoint, text) => {
    if (codePoint > 127) return single.test(text);
    const known = ascii[codePoint] ?? single.test(text);
    ascii[codePoint] = known;
    return known;
  };
  builder.tests.set(source, test);
  return test;
}

/** True when the program matches anywhere in the text: all threads advance together, each state once per position. */
function search(program: readonly (Instruction | undefined)[], text: string, meter: Meter): boolean {
  const marks = new Int32Array(program.length).fill(-1);
  const first = program[0];
  const anchored = first?.kind === 'assert' && first.what === 'start';
  let threads: number[] = [];
  let position = 0;
  while (meter.left >= 0) {
    const codePoint = text.codePointAt(position);
    const reached: number[] = [];
    const step: Step = { text, position, marks, reached };
    for (const thread of threads) if (follow(program, step, thread)) return true;
    // The start is a thread of every position, because a pattern may match anywhere in the text.
    if (follow(program, step, 0)) return true;
    if (codePoint === undefined || (anchored && reached.length === 0)) return false;
    meter.left -= 1 + reached.length;
    const character = String.fromCodePoint(codePoint);
    threads = reached
      .filter((state) => matchesAt(program[state], codePoint, character))
      .map((state) => state + 1);
    position += character.length;
  }
  return false;
}

interface Step {
  readonly text: string;
  readonly position: number;
  readonly marks: Int32Array;
  readonly reached: number[];
}

/** Follows splits, jumps and assertions from a state; true when the end of the program is reached. */
function follow(program: readonly (Instruction | undefined)[], step: Step, from: number): boolean {
  const pending = [from];
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    const instruction = program[state];
    if (instruction === undefined || step.marks[state] === step.position) continue;
    step.marks[state] = step.position;
    switch (instruction.kind) {
      case 'match':
        return true;
      case 'one':
        step.reached.push(state);
        break;
      case 'jump':
        pending.push(instruction.to);
        break;
      case 'split':
        pending.push(instruction.other, state + 1);
        break;
      case 'assert':
        if (holds(instruction.what, step.text, step.position)) pending.push(state + 1);
        break;
    }
  }
  return false;
}

function matchesAt(instruction: Instruction | undefined, codePoint: number, character: string): boolean {
  return instruction?.kind === 'one' && instruction.matches(codePoint, character);
}

function holds(
  what: Extract<Instruction, { kind: 'assert' }>['what'],
  text: string,
  position: number,
): boolean {
  switch (what) {
    case 'start':
      return position === 0;
    case 'end':
      return position === text.length;
    case 'word-edge':
      return isWord(text[position - 1]) !== isWord(text[position]);
    case 'no-word-edge':
      return isWord(text[position - 1]) === isWord(text[position]);
  }
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /^[A-Za-z0-9_]$/.test(character);
}
