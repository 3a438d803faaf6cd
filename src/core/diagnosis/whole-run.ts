import { type Json, canonicalJson, isJsonObject } from '../json.ts';
import { redactedExcerpt } from '../redaction.ts';
import type { DiagnosisFacts } from './facts.ts';
import { type Diagnosis, type Evidence, type Remediation, diagnosis, instant } from './finding.ts';

/** An ended run: nothing else is said about it. */
export function ended({ instance }: DiagnosisFacts): Diagnosis {
  const { id, state, failure } = instance;
  const message = failure?.error['message'];
  const where = failure === null || failure.blockId === null ? '' : ` at step '${failure.blockId}'`;
  return diagnosis('TERMINAL_STATE', {
    summary: `the instance has ended: ${state}${state === 'failed' ? where : ''}`,
    evidence: [
      { label: 'ended_at', summary: instant(instance.updatedAt) },
      ...(typeof message === 'string' ? [{ label: 'error', summary: redactedExcerpt(message) }] : []),
    ],
    affected: { kind: 'instance', id },
    remediation: state === 'failed' ? [retry(id)] : [],
  });
}

function retry(id: string): Remediation {
  return {
    summary: 'run it again from the step that failed',
    command: `orch8 instance retry ${id}`,
    sideEffectRisk: true,
    action: 'retry_instance',
  };
}

export function paused({ instance }: DiagnosisFacts): readonly Diagnosis[] {
  if (instance.state !== 'paused') return [];
  const { id, metadata, updatedAt } = instance;
  const reason = metadata['paused_reason'];
  const isOverBudget = reason === 'budget_exceeded';
  const why = typeof reason === 'string' ? ` (${redactedExcerpt(reason)})` : '';
  return [
    diagnosis(isOverBudget ? 'BUDGET_PAUSED' : 'PAUSED', {
      summary: isOverBudget
        ? 'the instance is paused: its budget is exceeded'
        : `the instance is paused${why}`,
      evidence: [
        { label: 'paused_at', summary: instant(updatedAt) },
        ...(isOverBudget ? breach(metadata['budget_breach']) : []),
      ],
      affected: { kind: 'instance', id },
      remediation: [
        {
          summary: 'resume the instance',
          command: `orch8 signal ${id} resume`,
          sideEffectRisk: false,
          action: 'resume_instance',
        },
      ],
    }),
  ];
}

function breach(given: Json | undefined): readonly Evidence[] {
  if (!isJsonObject(given)) return [];
  const { limit = null, limit_value: cap = null, actual = null } = given;
  const [name, most, used] = [limit, cap, actual].map((value) =>
    typeof value === 'string' ? value : canonicalJson(value),
  );
  return [
    { label: 'budget', summary: `${name} ${most}, used ${used}`, data: { limit, limit_value: cap, actual } },
  ];
}

export function waitingUntil({ instance, now }: DiagnosisFacts): readonly Diagnosis[] {
  const { state, nextFireAt } = instance;
  if (state !== 'scheduled' || nextFireAt === null || nextFireAt <= now) return [];
  return [
    diagnosis('WAITING_UNTIL', {
      summary: `the instance is due at ${instant(nextFireAt)}`,
      evidence: [{ label: 'next_fire_at', summary: instant(nextFireAt) }],
      affected: { kind: 'instance', id: instance.id },
    }),
  ];
}

/** [CAN-5]: what is protected ends first. */
export function draining({ instance, leaves }: DiagnosisFacts): readonly Diagnosis[] {
  const { cancelRequestedAt: at, id } = instance;
  if (at === null) return [];
  const blocks = leaves.flatMap(({ blockId }) => (blockId === null ? [] : [blockId]));
  return [
    diagnosis('CANCEL_DRAINING', {
      summary: 'a cancel was requested; what is protected from it ends first',
      evidence: [
        { label: 'cancel_requested_at', summary: instant(at) },
        ...(blocks.length === 0 ? [] : [{ label: 'drains', summary: blocks.join(', '), data: blocks }]),
      ],
      affected: { kind: 'instance', id },
    }),
  ];
}
