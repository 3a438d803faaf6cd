import type { Json } from '../json.ts';

/** What a block that fans out has to be told. Empty lists: nothing. */
export interface FanOutNeeds {
  /** Outputs as one item sees them: block ids by path of the item. */
  readonly outputs: ReadonlyMap<string, ReadonlySet<string>>;
  /** Single items of stored collections that are too large for the frame. */
  readonly items: readonly { readonly snapshotKey: string; readonly index: number }[];
  /** Where failed items stood, from an index on. */
  readonly failedItems: readonly { readonly key: string; readonly from: number }[];
  /** What the items from an index on put out at last. */
  readonly collected: readonly CollectedNeed[];
}

export interface CollectedNeed {
  readonly blockId: string;
  readonly iteration: string;
  readonly from: number;
  /** Blocks whose results count, in document order: of those with a result the last one speaks for the item. */
  readonly candidates: readonly string[];
  readonly failedKey: string;
  readonly total: number;
}

/** What one item has put out at last: the result of the block that speaks for it, its failure, or nothing. */
export type CollectedItem =
  | { readonly blockId: string; readonly output: Json }
  | { readonly error: Json }
  | null;

/** A failed item that was stored aside; `from` of the next look is its index + 1. */
export interface FailedItem {
  readonly index: number;
  readonly value: Json;
}

interface Within {
  readonly values: Map<string, Json>;
  readonly absent: Set<string>;
}

/**
 * What a turn knows of the items of blocks that fan out. Everything here is dropped when its item or its block ends, so
 * that it does not grow with the number of items.
 */
export class FanOutKnowledge {
  /** Nothing was ever written for this run: every item is as good as fresh. */
  private allFresh: boolean;
  private readonly within = new Map<string, Within>();
  private readonly fresh = new Set<string>();
  private readonly pinned = new Map<string, Json>();
  private readonly failedPages = new Map<string, readonly FailedItem[]>();
  private readonly gathered = new Map<string, { readonly items: CollectedItem[]; bytes: number }>();
  /** Failures that this turn has stored aside, by block and index: a commit may still have to bring them. */
  private readonly ownFailures = new Map<string, Map<number, Json>>();
  private missing = noNeeds();

  constructor(options: { readonly hasHistory: boolean }) {
    this.allFresh = !options.hasHistory;
  }

  /** Other outputs are read than before: what was written unasked has to be read. */
  reopen(): void {
    this.allFresh = false;
    this.fresh.clear();
  }

  /** The item was opened by this turn for the first time: what it has not written itself is not there. */
  openFresh(path: string): void {
    this.fresh.add(path);
  }

  /** The item has ended: nobody looks into it any more. */
  closeItem(path: string, pinKey: string): void {
    this.pinned.delete(pinKey);
    for (const known of [this.within, this.fresh]) {
      for (const key of [...known.keys()]) if (key === path || key.startsWith(`${path}/`)) known.delete(key);
    }
  }

  /** True when these outputs are known as the item sees them; otherwise the gap is noted. */
  covers(path: string, blockIds: readonly string[]): boolean {
    if (this.allFresh || this.fresh.has(path)) return true;
    const known = this.within.get(path);
    const gaps = blockIds.filter((id) => known?.values.has(id) !== true && known?.absent.has(id) !== true);
    if (gaps.length === 0) return true;
    this.missing.outputs.set(path, new Set([...(this.missing.outputs.get(path) ?? []), ...gaps]));
    return false;
  }

  outputsOf(path: string): ReadonlyMap<string, Json> {
    return this.within.get(path)?.values ?? new Map();
  }

  /** A row of this turn: it is newer than all that can be read. */
  setOutput(path: string, blockId: string, output: Json): void {
    const known = this.at(path);
    known.values.set(blockId, output);
    known.absent.delete(blockId);
  }

  removeOutputs(path: string, blockIds: readonly string[]): void {
    const known = this.at(path);
    for (const id of blockIds) {
      known.values.delete(id);
      known.absent.add(id);
    }
  }

  learnOutputs(wanted: FanOutNeeds['outputs'], found: ReadonlyMap<string, ReadonlyMap<string, Json>>): void {
    for (const [path, ids] of wanted) {
      const known = this.at(path);
      for (const id of ids) {
        if (known.values.has(id) || known.absent.has(id)) continue;
        const value = found.get(path)?.get(id);
        if (value === undefined) known.absent.add(id);
        else known.values.set(id, value);
      }
    }
  }

  private at(path: string): Within {
    const known = this.within.get(path) ?? { values: new Map(), absent: new Set() };
    this.within.set(path, known);
    return known;
  }

  /** An item that its frame does not hold; undefined: not known yet (noted as a need). */
  item(snapshotKey: string, index: number): Json | undefined {
    const value = this.pinned.get(pinKey(snapshotKey, index));
    if (value === undefined) this.missing.items.push({ snapshotKey, index });
    return value;
  }

  /** As `item`, without asking for it. */
  knownItem(snapshotKey: string, index: number): Json | undefined {
    return this.pinned.get(pinKey(snapshotKey, index));
  }

  pin(snapshotKey: string, index: number, value: Json): void {
    this.pinned.set(pinKey(snapshotKey, index), value);
  }

  /** The first failed item stored under a key from an index on; null: there is none; undefined: not known yet. */
  failedItem(key: string, from: number): FailedItem | null | undefined {
    const page = this.failedPages.get(key);
    const found = page?.find((item) => item.index >= from);
    if (found !== undefined) return found;
    if (page?.length === 0) return null;
    this.missing.failedItems.push({ key, from });
    return undefined;
  }

  learnFailedItems(key: string, page: readonly FailedItem[]): void {
    this.failedPages.set(key, page);
  }

  setFailure(owner: string, index: number, error: Json): void {
    const known = this.ownFailures.get(owner) ?? new Map<number, Json>();
    this.ownFailures.set(owner, known.set(index, error));
  }

  failuresOf(owner: string): ReadonlyMap<number, Json> {
    return this.ownFailures.get(owner) ?? new Map();
  }

  /** What the items have put out, as far as it is known, with its size in bytes. */
  collected(owner: string): { readonly items: readonly CollectedItem[]; readonly bytes: number } {
    return this.gathered.get(owner) ?? { items: [], bytes: 0 };
  }

  askCollected(need: CollectedNeed): void {
    this.missing.collected.push(need);
  }

  learnCollected(owner: string, items: readonly CollectedItem[], bytes: number): void {
    const known = this.gathered.get(owner) ?? { items: [], bytes: 0 };
    known.items.push(...items);
    known.bytes += bytes;
    this.gathered.set(owner, known);
  }

  /** The block has ended. */
  closeBlock(owner: string): void {
    this.gathered.delete(owner);
    this.ownFailures.delete(owner);
  }

  get hasNeeds(): boolean {
    const { outputs, items, failedItems, collected } = this.missing;
    return outputs.size + items.length + failedItems.length + collected.length > 0;
  }

  takeNeeds(): FanOutNeeds {
    const needs = this.missing;
    this.missing = noNeeds();
    return needs;
  }
}

export function pinKey(snapshotKey: string, index: number): string {
  return `${snapshotKey}#${index}`;
}

interface OpenNeeds {
  outputs: Map<string, ReadonlySet<string>>;
  items: { snapshotKey: string; index: number }[];
  failedItems: { key: string; from: number }[];
  collected: CollectedNeed[];
}

function noNeeds(): OpenNeeds {
  return { outputs: new Map(), items: [], failedItems: [], collected: [] };
}
