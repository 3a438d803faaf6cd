import type { StandingLeaf } from './facts.ts';
import { type AffectedResource, type Evidence, instant } from './finding.ts';

export function nameOf({ blockId }: StandingLeaf): string {
  return blockId === null ? 'a step' : `step '${blockId}'`;
}

export function blockOf({ blockId }: StandingLeaf): { readonly affected?: AffectedResource } {
  return blockId === null ? {} : { affected: { kind: 'block', id: blockId } };
}

export function until(label: string, at: number | null): readonly Evidence[] {
  return at === null ? [] : [{ label, summary: instant(at) }];
}

/** A text as one word of a POSIX shell: commands are there to be copied, and block ids are whatever their author wrote. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text);
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
