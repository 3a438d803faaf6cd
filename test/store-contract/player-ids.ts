import { type Json, canonicalJson } from '../../src/core/json.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Ids that depend only on the act and the place in it, so that two players make the same ones. */
export class Ids {
  private act = 0;
  private place = 0;
  private readonly made = new Set<string>();
  /** The newest task of an instance and block. */
  readonly tasks = new Map<string, string>();
  readonly children: string[] = [];

  enter(act: number): void {
    this.act = act;
    this.place = 0;
  }

  next(): string {
    this.place += 1;
    const id = `01900000-${hex(this.act, 4)}-7000-8000-${hex(this.place, 12)}`;
    this.made.add(id);
    return id;
  }

  /** JSON with the ids that a store made itself replaced by a word, and what only people read left out. */
  comparable(value: unknown): unknown {
    const text = JSON.stringify(value, (name, part: unknown) => {
      if (name === 'message') return '<message>';
      // Frames but the root one come in no particular order.
      if (name === 'frames' && Array.isArray(part))
        return part.map((frame: Json) => canonicalJson(frame)).sort();
      return typeof part === 'string' && UUID.test(part) && !this.made.has(part) ? '<made>' : part;
    });
    return text === undefined ? undefined : JSON.parse(text);
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
