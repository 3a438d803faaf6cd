import { FanOutKnowledge, type FanOutNeeds } from './fan-out-knowledge.ts';
import type { Json } from '../json.ts';
import type { References } from '../expressions/references.ts';

/** A published version as far as a parent needs to know it before it starts a child. */
export interface KnownSequence {
  readonly sequenceId: string;
  readonly inputSchema: Json | null;
}

/** What the core still has to be told before it can go on. Empty sets: nothing. */
export interface Needs {
  readonly outputs: ReadonlySet<string> | 'all';
  readonly state: ReadonlySet<string> | 'all';
  readonly items: readonly { readonly snapshotKey: string; readonly from: number }[];
  readonly sequences: readonly { readonly name: string; readonly version: number | null }[];
  readonly childRows: readonly string[];
  readonly fanOut: FanOutNeeds;
}

/**
 * What a turn knows of the database beyond the frontier. The core asks here; what is missing is noted as a need, the
 * walk leaves that list alone, and the engine reads all needs at once and walks again. So the core stays pure, and a
 * turn reads only what its next blocks refer to.
 */
export class Knowledge {
  private readonly outputs = new Map<string, Json>();
  private readonly absentOutputs = new Set<string>();
  /** What this turn has written itself; a later read must not put an older value in its place. */
  private readonly ownOutputs = new Set<string>();
  private readonly ownState = new Set<string>();
  private readonly stateValues = new Map<string, Json>();
  /** Values of reserved keys, which no text sees. */
  private readonly reservedValues = new Map<string, Json>();
  private readonly absentState = new Set<string>();
  private allOutputs: boolean;
  private allState: boolean;
  private readonly items = new Map<string, Map<number, Json>>();
  private readonly sequences = new Map<string, KnownSequence | null>();
  private readonly childRows = new Map<string, Json>();
  /** Of the items of blocks that fan out. */
  readonly fanOut: FanOutKnowledge;
  private missing = emptyNeeds();

  /** A run without history has no rows and no state: nothing ever needs to be read. */
  constructor(options: { readonly hasHistory: boolean }) {
    this.allOutputs = !options.hasHistory;
    this.allState = !options.hasHistory;
    this.fanOut = new FanOutKnowledge(options);
  }

  /** True when everything these references may read is known; otherwise the gap is noted as a need. */
  covers(references: References): boolean {
    const outputs = this.coversPart(references.outputs, this.allOutputs, this.outputs, this.absentOutputs);
    if (outputs !== null) this.missing.outputs = merge(this.missing.outputs, outputs);
    const knownState = { has: (key: string) => this.valuesFor(key).has(key) };
    const state = this.coversPart(references.state, this.allState, knownState, this.absentState);
    if (state !== null) this.missing.state = merge(this.missing.state, state);
    return outputs === null && state === null;
  }

  private coversPart(
    wanted: ReadonlySet<string> | 'all',
    all: boolean,
    known: { readonly has: (key: string) => boolean },
    absent: ReadonlySet<string>,
  ): ReadonlySet<string> | 'all' | null {
    if (all) return null;
    if (wanted === 'all') return 'all';
    const gaps = [...wanted].filter((key) => !known.has(key) && !absent.has(key));
    return gaps.length === 0 ? null : new Set(gaps);
  }

  get knownOutputs(): ReadonlyMap<string, Json> {
    return this.outputs;
  }

  get knownState(): ReadonlyMap<string, Json> {
    return this.stateValues;
  }

  /** A row of this turn, committed or not: it is newer than all that can be read. */
  setOutput(blockId: string, output: Json, itemPaths: readonly string[] = []): void {
    for (const path of itemPaths) this.fanOut.setOutput(path, blockId, output);
    this.outputs.set(blockId, output);
    this.absentOutputs.delete(blockId);
    this.ownOutputs.add(blockId);
  }

  /** Other outputs are read than before: those that this turn has written and nobody asked for are not known. */
  reopen(): void {
    this.allOutputs = false;
    this.fanOut.reopen();
  }

  /** The last visible rows of these blocks were superseded by this turn, committed or not. */
  removeOutputs(blockIds: readonly string[]): void {
    for (const id of blockIds) {
      this.outputs.delete(id);
      this.absentOutputs.add(id);
      this.ownOutputs.add(id);
    }
  }

  /** The value of a key as this turn knows it, its own uncommitted writes included; null: not known here. */
  stateValue(key: string): { readonly value: Json | undefined } | null {
    const value = this.valuesFor(key).get(key);
    if (value !== undefined) return { value };
    return this.allState || this.absentState.has(key) ? { value: undefined } : null;
  }

  setState(key: string, value: Json | undefined): void {
    this.ownState.add(key);
    if (value === undefined) {
      this.valuesFor(key).delete(key);
      this.absentState.add(key);
    } else {
      this.valuesFor(key).set(key, value);
      this.absentState.delete(key);
    }
  }

  private valuesFor(key: string): Map<string, Json> {
    return isReservedStateKey(key) ? this.reservedValues : this.stateValues;
  }

  item(snapshotKey: string, index: number): Json | undefined {
    const value = this.items.get(snapshotKey)?.get(index);
    if (value === undefined) this.missing.items.push({ snapshotKey, from: index });
    return value;
  }

  setItems(snapshotKey: string, from: number, values: readonly Json[]): void {
    this.items.set(snapshotKey, new Map(values.map((value, offset) => [from + offset, value])));
  }

  /** undefined: not known yet (noted as a need); null: there is no such sequence. */
  sequence(name: string, version: number | null): KnownSequence | null | undefined {
    const known = this.sequences.get(sequenceKey(name, version));
    if (known === undefined) this.missing.sequences.push({ name, version });
    return known;
  }

  setSequence(name: string, version: number | null, sequence: KnownSequence | null): void {
    this.sequences.set(sequenceKey(name, version), sequence);
  }

  rowsOfChild(childId: string): Json | undefined {
    const rows = this.childRows.get(childId);
    if (rows === undefined) this.missing.childRows.push(childId);
    return rows;
  }

  setChildRows(childId: string, rows: Json): void {
    this.childRows.set(childId, rows);
  }

  /** True when something has to be read before the walk can be finished. */
  get hasNeeds(): boolean {
    const { outputs, state, items, sequences, childRows } = this.missing;
    const texts = sizeOf(outputs) + sizeOf(state);
    return texts + items.length + sequences.length + childRows.length > 0 || this.fanOut.hasNeeds;
  }

  /** The needs noted since the last call; null when there are none. */
  takeNeeds(): Needs | null {
    if (!this.hasNeeds) return null;
    const needs = { ...this.missing, fanOut: this.fanOut.takeNeeds() };
    this.missing = emptyNeeds();
    return needs;
  }

  /** Takes in what the engine has read; asked-for keys without a value are absent from now on. */
  learn(
    needs: Needs,
    found: { readonly outputs: ReadonlyMap<string, Json>; readonly state: ReadonlyMap<string, Json> },
  ): void {
    for (const [id, output] of found.outputs) if (!this.ownOutputs.has(id)) this.outputs.set(id, output);
    for (const [key, value] of found.state) {
      if (!this.ownState.has(key)) this.valuesFor(key).set(key, value);
    }
    if (needs.outputs === 'all') this.allOutputs = true;
    else for (const id of needs.outputs) if (!found.outputs.has(id)) this.absentOutputs.add(id);
    if (needs.state === 'all') this.allState = true;
    else for (const key of needs.state) if (!found.state.has(key)) this.absentState.add(key);
  }
}

interface OpenNeeds {
  outputs: ReadonlySet<string> | 'all';
  state: ReadonlySet<string> | 'all';
  items: { snapshotKey: string; from: number }[];
  sequences: { name: string; version: number | null }[];
  childRows: string[];
}

const NO_NAMES: ReadonlySet<string> = new Set();

function emptyNeeds(): OpenNeeds {
  return { outputs: NO_NAMES, state: NO_NAMES, items: [], sequences: [], childRows: [] };
}

function merge(
  left: ReadonlySet<string> | 'all',
  right: ReadonlySet<string> | 'all',
): ReadonlySet<string> | 'all' {
  return left === 'all' || right === 'all' ? 'all' : new Set([...left, ...right]);
}

function sizeOf(set: ReadonlySet<string> | 'all'): number {
  return set === 'all' ? 1 : set.size;
}

const sequenceKey = (name: string, version: number | null): string => `${version ?? 'latest'}:${name}`;

/** Reserved keys of the key/value store are not shown to texts ([H-8], handlers.md 1.4). */
export function isReservedStateKey(key: string): boolean {
  return key.startsWith('__');
}
