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
