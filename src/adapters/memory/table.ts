/** What must be done to take the running operation back, newest last; null outside operations. */
export interface UndoLog {
  steps: (() => void)[] | null;
}

/** Rows by key, in the order in which the keys first came. Every change can be taken back. */
export class Table<V> {
  private readonly rows = new Map<string, V>();
  private readonly log: UndoLog;

  constructor(log: UndoLog) {
    this.log = log;
  }

  get(key: string): V | undefined {
    return this.rows.get(key);
  }

  has(key: string): boolean {
    return this.rows.has(key);
  }

  put(key: string, value: V): void {
    const before = this.rows.get(key);
    const existed = this.rows.has(key);
    this.rows.set(key, value);
    this.log.steps?.push(() => {
      if (existed && before !== undefined) this.rows.set(key, before);
      else this.rows.delete(key);
    });
  }

  remove(key: string): void {
    const before = this.rows.get(key);
    if (before === undefined) return;
    this.rows.delete(key);
    this.log.steps?.push(() => this.rows.set(key, before));
  }

  values(): V[] {
    return [...this.rows.values()];
  }

  entries(): [string, V][] {
    return [...this.rows];
  }

  get size(): number {
    return this.rows.size;
  }
}

/** One table per instance (or task), made when first written to. */
export class Grouped<V> {
  private readonly groups = new Map<string, Table<V>>();
  private readonly log: UndoLog;

  constructor(log: UndoLog) {
    this.log = log;
  }

  of(group: string): Table<V> {
    let table = this.groups.get(group);
    if (table === undefined) {
      table = new Table<V>(this.log);
      this.groups.set(group, table);
    }
    return table;
  }

  clear(group: string): void {
    const table = this.of(group);
    for (const [key] of table.entries()) table.remove(key);
  }

  tables(): Table<V>[] {
    return [...this.groups.values()];
  }

  count(): number {
    let total = 0;
    for (const table of this.groups.values()) total += table.size;
    return total;
  }
}
