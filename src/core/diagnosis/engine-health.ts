import type { DiagnosisFacts } from './facts.ts';
import { type Diagnosis, diagnosis, instant } from './finding.ts';

const SIGNAL_LATE_MS = 60_000;
const RUNNING_STALE_MS = 600_000;
const DUE_LATE_MS = 300_000;

const GATE_PREFIX = 'custom:human_input:';

/** Whether the engine itself does what it should. */
export function engineHealth(facts: DiagnosisFacts): readonly Diagnosis[] {
  return [...staleRunning(facts), ...schedulerLag(facts), ...lateSignals(facts), ...missingSequence(facts)];
}

/** A lease that is renewed is alive, and a parked sleep has nothing to do ([SETTLE-4]). */
function staleRunning({ instance, now }: DiagnosisFacts): readonly Diagnosis[] {
  const { state, updatedAt, leaseUntil, dueAt } = instance;
  const isWatched = leaseUntil === null ? dueAt !== null && dueAt > now : leaseUntil > now;
  if (state !== 'running' || isWatched || now - updatedAt <= RUNNING_STALE_MS) return [];
  return [
    diagnosis('STALE_RUNNING_STATE', {
      summary: 'the instance is running, and nothing has worked on it for more than 10 minutes',
      evidence: [
        { label: 'updated_at', summary: instant(updatedAt) },
        ...(leaseUntil === null ? [] : [{ label: 'lease_ended_at', summary: instant(leaseUntil) }]),
      ],
      affected: { kind: 'instance', id: instance.id },
    }),
  ];
}

function schedulerLag({ instance, now }: DiagnosisFacts): readonly Diagnosis[] {
  const { dueAt, leaseUntil } = instance;
  if (leaseUntil !== null || dueAt === null || now - dueAt <= DUE_LATE_MS) return [];
  return [
    diagnosis('SCHEDULER_LAG', {
      summary: 'the instance is due, and no turn has claimed it for more than 5 minutes',
      evidence: [{ label: 'due_at', summary: instant(dueAt) }],
      affected: { kind: 'instance', id: instance.id },
    }),
  ];
}

/** An answer to a gate that is not open yet is kept for it, on purpose ([HI-6]). */
function lateSignals({ instance, inbox, leaves, now }: DiagnosisFacts): readonly Diagnosis[] {
  const open = new Set(leaves.filter(({ leaf }) => leaf.reason === 'input').map(({ blockId }) => blockId));
  const late = inbox.filter(({ fact, acceptedAt }) => {
    if (fact.kind !== 'signal' || now - acceptedAt <= SIGNAL_LATE_MS) return false;
    return !fact.signalType.startsWith(GATE_PREFIX) || open.has(fact.signalType.slice(GATE_PREFIX.length));
  });
  const [oldest] = late;
  if (oldest === undefined) return [];
  return [
    diagnosis('SIGNALS_NOT_CONSUMED', {
      summary: `${late.length} accepted signals have not been processed for more than a minute`,
      evidence: [
        { label: 'oldest_accepted_at', summary: instant(oldest.acceptedAt) },
        { label: 'count', summary: String(late.length), data: late.length },
      ],
      affected: { kind: 'instance', id: instance.id },
    }),
  ];
}

function missingSequence({ instance, sequence }: DiagnosisFacts): readonly Diagnosis[] {
  if (sequence !== 'missing') return [];
  return [
    diagnosis('SEQUENCE_MISSING', {
      summary: `the sequence ${instance.sequenceId} of the instance is gone or cannot be read`,
      affected: { kind: 'sequence', id: instance.sequenceId },
    }),
  ];
}
