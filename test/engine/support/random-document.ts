import * as fc from 'fast-check';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';

/** Draws values from a list of numbers, so that a document is a function of a seed. */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed % 2147483647 || 1;
  }

  below(count: number): number {
    this.state = (this.state * 48271) % 2147483647;
    return this.state % count;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
}

export const dice = (): fc.Arbitrary<number> => fc.noShrink(fc.integer({ min: 1, max: 2 ** 31 - 2 }));

type Blocks = readonly JsonObject[];

/** Makes blocks of every type; ids never repeat. */
export class Author {
  readonly dice: Dice;
  private count = 0;
  private readonly prefix: string;

  constructor(roll: Dice, prefix = 'b') {
    this.dice = roll;
    this.prefix = prefix;
  }

  id(): string {
    this.count += 1;
    return `${this.prefix}${this.count}`;
  }

  list(depth: number, max = 3): Blocks {
    return Array.from({ length: 1 + this.dice.below(max) }, () => this.block(depth));
  }

  step(): JsonObject {
    const handler = this.dice.chance(5)
      ? 'broken'
      : this.dice.pick(['quick', 'slow', 'slow', 'slower', 'work', 'calm', 'sleep']);
    const params = handler === 'sleep' ? { params: { duration_ms: 400 } } : {};
    return { type: 'step', id: this.id(), handler, ...params };
  }

  block(depth: number): JsonObject {
    if (depth === 0 || this.dice.chance(45)) return this.step();
    return this.composite(this.id(), depth - 1);
  }

  private composite(id: string, depth: number): JsonObject {
    switch (this.dice.below(10)) {
      case 0:
        return { type: 'parallel', id, branches: [this.list(depth), this.list(depth), this.list(depth, 2)] };
      case 1:
        return {
          type: 'race',
          id,
          semantics: 'first_to_succeed',
          branches: [this.list(depth), this.list(depth)],
        };
      case 2:
        return {
          type: 'router',
          id,
          routes: [
            { condition: this.dice.pick(['true', 'false']), blocks: this.list(depth) },
            { condition: 'data.n == 1', blocks: this.list(depth) },
          ],
          default: this.list(depth),
        };
      case 3:
        return {
          type: 'try_catch',
          id,
          try_block: this.list(depth),
          catch_block: this.list(depth, 2),
          finally_block: this.list(depth, 2),
        };
      case 4:
        return {
          type: 'loop',
          id,
          condition: 'true',
          max_iterations: 2,
          continue_on_error: true,
          body: this.list(depth),
        };
      case 5:
        return { type: 'for_each', id, collection: 'items', item_var: 'item', body: this.list(depth) };
      case 6:
        return {
          type: 'for_each',
          id,
          collection: 'items',
          item_var: 'item',
          concurrency: 2,
          on_item_failure: 'continue',
          body: this.list(depth),
        };
      case 7:
        return { type: 'cancellation_scope', id, blocks: this.list(depth) };
      case 8:
        return {
          type: 'a_b_split',
          id,
          variants: [
            { name: 'one', weight: 1, blocks: this.list(depth) },
            { name: 'two', weight: 1, blocks: this.list(depth) },
          ],
        };
      default:
        return {
          type: 'saga',
          id,
          steps: [this.sagaStep(depth), this.sagaStep(depth), this.sagaStep(depth)],
        };
    }
  }

  private sagaStep(depth: number): JsonObject {
    return { id: this.id(), action: this.block(depth), compensation: this.step() };
  }
}

/** Another version of a document: blocks come, go and change places, and lists of a composite change places. */
export function mutated(blocks: Blocks, author: Author, times: number): Blocks {
  let root: Json = blocks;
  for (let n = 0; n < times; n += 1) {
    if (author.dice.chance(20)) root = moved(root, author);
    const lists = listsIn(root);
    const at = author.dice.pick(lists);
    root = replaced(root, at, changed(listAt(root, at), author));
  }
  return asBlocks(root);
}

/** A block goes to another list, wherever that is. */
function moved(root: Json, author: Author): Json {
  const from = author.dice.pick(listsIn(root).filter((path) => isBlocks(listAt(root, path))));
  const list = listAt(root, from);
  if (list.length < 2) return root;
  const at = author.dice.below(list.length);
  const without = replaced(root, from, list.toSpliced(at, 1));
  const to = author.dice.pick(listsIn(without).filter((path) => isBlocks(listAt(without, path))));
  const target = listAt(without, to);
  const block = list[at];
  if (block === undefined) return root;
  return replaced(without, to, target.toSpliced(author.dice.below(target.length + 1), 0, block));
}

function isBlocks(list: readonly Json[]): boolean {
  const [first] = list;
  return first !== undefined && isJsonObject(first) && typeof first['type'] === 'string';
}

type Path = readonly (string | number)[];

/** Paths of all arrays in which order means something: lists of blocks, branches, routes, variants, saga steps. */
function listsIn(value: Json, path: Path = []): Path[] {
  if (isJsonArray(value)) {
    return [path, ...value.flatMap((inner, index) => listsIn(inner, [...path, index]))];
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'params' || !(isJsonArray(inner) || isJsonObject(inner)) ? [] : listsIn(inner, [...path, key]),
  );
}

function listAt(value: Json, path: Path): readonly Json[] {
  const found = path.reduce<Json | undefined>(
    (at, part) => (isJsonArray(at) ? at[Number(part)] : isJsonObject(at) ? at[String(part)] : undefined),
    value,
  );
  return isJsonArray(found) ? found : [];
}

function replaced(value: Json, [head, ...rest]: Path, list: readonly Json[]): Json {
  if (head === undefined) return list;
  if (isJsonArray(value))
    return value.map((inner, index) => (index === head ? replaced(inner, rest, list) : inner));
  if (!isJsonObject(value)) return value;
  return { ...value, [head]: replaced(value[head] ?? null, rest, list) };
}

/** One change of one list. An element of a list of lists is a list, that of a list of saga steps a step. */
function changed(list: readonly Json[], author: Author): readonly Json[] {
  const at = author.dice.below(list.length + 1);
  switch (author.dice.below(4)) {
    case 0:
      return list.length > 1 ? list.toSpliced(Math.min(at, list.length - 1), 1) : list;
    case 1:
      return list.toReversed();
    case 2: {
      const [first, ...others] = list;
      return first === undefined ? list : [...others, first];
    }
    default:
      return list.toSpliced(at, 0, sibling(list, author));
  }
}

function sibling(list: readonly Json[], author: Author): Json {
  const [first] = list;
  if (isJsonArray(first)) return [author.step()];
  if (!isJsonObject(first) || typeof first['type'] === 'string') return author.block(1);
  if ('condition' in first) return { condition: `data.n == ${author.id().length}`, blocks: [author.step()] };
  if ('weight' in first) return { name: author.id(), weight: 1, blocks: [author.step()] };
  return { id: author.id(), action: author.step(), compensation: author.step() };
}

function asBlocks(value: Json): Blocks {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}
