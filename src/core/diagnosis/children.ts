import { isTerminal } from '../run/states.ts';
import type { DiagnosisFacts } from './facts.ts';
import { type Diagnosis, diagnosis } from './finding.ts';
import { blockOf, nameOf } from './wording.ts';

/**
 * Children that the run waits for. When all of them have ended and the parent waits all the same, with no end on its way
 * to it, something has got lost.
 */
export function childWaits(facts: DiagnosisFacts): readonly Diagnosis[] {
  const { surroundings, instance, inbox } = facts;
  const waits = facts.leaves.filter(({ leaf }) => leaf.reason === 'child' && leaf.childEnd === null);
  if (surroundings === null || waits.length === 0) return [];
  const stateOf = (id: string | null) => surroundings.children.find((child) => child.id === id)?.state;
  const isOpen = (id: string | null): boolean => {
    const state = stateOf(id);
    return state !== undefined && !isTerminal(state);
  };
  const open = waits.filter(({ leaf }) => isOpen(leaf.childId));
  if (open.length > 0) {
    return open.map((standing) =>
      diagnosis('WAITING_CHILD', {
        summary: `${nameOf(standing)} waits for the instance ${standing.leaf.childId ?? ''}`,
        evidence: [{ label: 'child_state', summary: stateOf(standing.leaf.childId) ?? 'unknown' }],
        affected: { kind: 'instance', id: standing.leaf.childId ?? '' },
      }),
    );
  }
  const isOnItsWay = inbox.some(({ fact }) => fact.kind === 'child');
  if (instance.state !== 'waiting' || isOnItsWay) return [];
  const [first] = waits;
  return [
    diagnosis('CHILDREN_DONE_PARENT_WAITING', {
      summary: 'all children have ended, and their parent still waits',
      evidence: waits.map(({ leaf }) => ({
        label: 'child',
        summary: `${leaf.childId ?? 'unknown'} ${stateOf(leaf.childId) ?? 'is gone'}`,
      })),
      ...(first === undefined ? {} : blockOf(first)),
    }),
  ];
}
