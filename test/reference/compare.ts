import { firstId, runEngine, START_AT } from './drive-engine.ts';
import { interpret } from './simulate.ts';
import type { Outcome, World } from './world.ts';

export type Comparison =
  | { readonly kind: 'same' }
  /** Nothing defines the order of events in this case. */
  | { readonly kind: 'undefined_order'; readonly why: string }
  | { readonly kind: 'different'; readonly reference: Outcome; readonly engine: Outcome };

/** Plays a case with both and compares all that they show. */
export async function compare(world: World): Promise<Comparison> {
  const id = firstId(world);
  const {
    outcome: reference,
    tie,
    endedAt,
  } = interpret(world, START_AT, (ordinal) => (ordinal === 0 ? id : ''));
  if (tie !== null) return { kind: 'undefined_order', why: tie };
  const engine = await runEngine(world, endedAt);
  return JSON.stringify(sorted(reference)) === JSON.stringify(sorted(engine))
    ? { kind: 'same' }
    : { kind: 'different', reference, engine };
}

/** The order of the members of objects says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

/** Where two outcomes differ, one line for each place. */
export function differences(reference: unknown, engine: unknown, path = ''): string[] {
  if (JSON.stringify(sorted(reference)) === JSON.stringify(sorted(engine))) return [];
  const isPair = isContainer(reference) && isContainer(engine);
  if (!isPair) return [`${path}: reference ${JSON.stringify(reference)}, engine ${JSON.stringify(engine)}`];
  const keys = [...new Set([...Object.keys(reference), ...Object.keys(engine)])];
  const entriesOf = (value: object): Map<string, unknown> => new Map(Object.entries(value));
  const [left, right] = [entriesOf(reference), entriesOf(engine)];
  return keys.flatMap((key) => differences(left.get(key), right.get(key), `${path}/${key}`));
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
