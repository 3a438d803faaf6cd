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

/** A pattern that can be matched in time linear in the text; what it costs is taken from the meter. */
export interface LinearPattern {
  /** Instructions of the program, which bound the work for one character. */
  readonly size: number;
  readonly matches: (text: string, meter: Meter) => boolean;
}

interface Builder {
  readonly program: (Instruction | undefined)[];
  /** One test per distinct source: `.{0,5000}` must not compile 5,000 expressions. */
  readonly tests: Map<string, CodePointTest>;
}

/**
 * Reads a pattern of ECMAScript syntax (flag `u`), or says why it is refused. The program is written when it is first
 * needed: a document may hold many patterns, and publishing it must not cost what running all of them would.
 */
export function compilePattern(source: string): Result<LinearPattern, string> {
  const tree = readPattern(source);
  if (!tree.ok) return tree;
  const size = sizeOf(tree.value) + 1;
  if (size > MAX_INSTRUCTIONS) return err('the pattern is too large when its repeats are written out');
  let program: readonly (Instruction | undefined)[] | null = null;
  const matches = (text: string, meter: Meter): boolean => {
    program ??= writeProgram(tree.value);
    return search(program, text, meter);
  };
  return ok({ size, matches });
}

function writeProgram(tree: PatternNode): readonly (Instruction | undefined)[] {
  const builder: Builder = { program: [], tests: new Map() };
  emit(builder, tree);
  return [...builder.program, { kind: 'match' }];
}

/** Instructions that `emit` writes for a node, found without writing them. */
function sizeOf(node: PatternNode): number {
  switch (node.kind) {
    case 'one':
    case 'assert':
      return 1;
    case 'sequence':
      return sum(node.parts.map(sizeOf));
    case 'choice':
      return sum(node.options.map(sizeOf)) + 2 * (node.options.length - 1);
    case 'repeat': {
      const part = sizeOf(node.part);
      if (part === 0) return 0;
      const optional = node.most === Infinity ? part + 2 : (node.most - node.least) * (part + 1);
      return node.least * part + optional;
    }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function emit(builder: Builder, node: PatternNode): void {
  const { program } = builder;
  switch (node.kind) {
    case 'one':
      program.push({ kind: 'one', matches: codePointTest(builder, node.source) });
      return;
    case 'assert':
      program.push({ kind: 'assert', what: node.what });
      return;
    case 'sequence':
      for (const part of node.parts) emit(builder, part);
      return;
    case 'choice':
      return emitChoice(builder, node.options);
    case 'repeat':
      // Nothing is nothing, however often it is repeated.
      return sizeOf(node.part) === 0 ? undefined : emitRepeat(builder, node);
  }
}

function emitChoice(builder: Builder, options: readonly PatternNode[]): void {
  const { program } = builder;
  const jumps: number[] = [];
  for (const [index, option] of options.entries()) {
    if (index === options.length - 1) {
      emit(builder, option);
      break;
    }
    const split = reserve(program);
    emit(builder, option);
    jumps.push(reserve(program));
    program[split] = { kind: 'split', other: program.length };
  }
  for (const jump of jumps) program[jump] = { kind: 'jump', to: program.length };
}

function emitRepeat(builder: Builder, node: Extract<PatternNode, { kind: 'repeat' }>): void {
  const { program } = builder;
  for (let copy = 0; copy < node.least; copy += 1) emit(builder, node.part);
  if (node.most === Infinity) {
    const split = reserve(program);
    emit(builder, node.part);
    program.push({ kind: 'jump', to: split });
    program[split] = { kind: 'split', other: program.length };
    return;
  }
  const splits: number[] = [];
  for (let copy = node.least; copy < node.most; copy += 1) {
    splits.push(reserve(program));
    emit(builder, node.part);
  }
  for (const split of splits) program[split] = { kind: 'split', other: program.length };
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
