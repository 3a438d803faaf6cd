import { isTerminal } from '../run/states.ts';
import { childWaits } from './children.ts';
import { engineHealth } from './engine-health.ts';
import type { DiagnosisFacts } from './facts.ts';
import { type Diagnosis, diagnosis, inOrder, instant } from './finding.ts';
import { openBreakers, slotWait } from './limit-waits.ts';
import { taskWaits } from './tasks.ts';
import { leafWaits } from './waits.ts';
import { draining, ended, paused, waitingUntil } from './whole-run.ts';

/** Why an instance does not go on, most telling first (http-api.md 7.1); at least one answer, and only one once it ended. */
export function diagnose(facts: DiagnosisFacts): readonly Diagnosis[] {
  if (isTerminal(facts.instance.state)) return [ended(facts)];
  const found = [
    ...paused(facts),
    ...draining(facts),
    ...waitingUntil(facts),
    ...slotWait(facts),
    ...leafWaits(facts),
    ...polls(facts),
    ...taskWaits(facts),
    ...childWaits(facts),
    ...openBreakers(facts),
    ...engineHealth(facts),
    ...incomplete(facts),
  ];
  const all = [...found, ...unspecific(facts, found)];
  return inOrder(all.length > 0 ? all : [nothing(facts)]);
}

/** A loop between two passes, beside something that the run as a whole waits for. */
function polls({ polls: waits, instance, now }: DiagnosisFacts): readonly Diagnosis[] {
  if (instance.state === 'scheduled' || instance.state === 'paused') return [];
  return waits.flatMap(({ blockId, until }) =>
    until <= now
      ? []
      : [
          diagnosis('WAITING_UNTIL', {
            summary: `loop '${blockId}' waits between two passes until ${instant(until)}`,
            evidence: [{ label: 'next_fire_at', summary: instant(until) }],
            affected: { kind: 'block', id: blockId },
          }),
        ],
  );
}

/** What could not be read may hide a cause. */
function incomplete({ sequence, surroundings }: DiagnosisFacts): readonly Diagnosis[] {
  const missing = [
    ...(sequence === 'unknown' ? ['sequence'] : []),
    ...(surroundings === null ? ['workers, limits and children'] : []),
  ];
  if (missing.length === 0) return [];
  return [
    diagnosis('EVIDENCE_INCOMPLETE', {
      summary: `not everything could be looked up: ${missing.join('; ')}`,
      evidence: missing.map((summary) => ({ label: 'not_read', summary })),
    }),
  ];
}

function unspecific({ instance }: DiagnosisFacts, found: readonly Diagnosis[]): readonly Diagnosis[] {
  const isKnown = found.some(({ category }) => category === 'direct_evidence');
  if (instance.state !== 'waiting' || isKnown) return [];
  return [
    diagnosis('WAITING_EXTERNAL_EVENT', {
      summary: 'the instance waits for something from outside',
      evidence: [{ label: 'waiting_since', summary: instant(instance.updatedAt) }],
      affected: { kind: 'instance', id: instance.id },
      remediation: [
        {
          summary: 'send the signal that it waits for',
          command: `orch8 signal ${instance.id} custom:<name> '<payload>'`,
          sideEffectRisk: true,
        },
      ],
    }),
  ];
}

function nothing({ instance }: DiagnosisFacts): Diagnosis {
  return diagnosis('NO_BLOCKER_FOUND', {
    summary: `nothing keeps the instance from going on; it is ${instance.state}`,
    affected: { kind: 'instance', id: instance.id },
  });
}
