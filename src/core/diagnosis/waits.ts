import { redactedExcerpt } from '../redaction.ts';
import type { Leaf } from '../run/frame.ts';
import type { DiagnosisFacts, StandingLeaf } from './facts.ts';
import { type Diagnosis, type Evidence, diagnosis, instant } from './finding.ts';
import { limitWait } from './limit-waits.ts';
import { blockOf, nameOf, quoted, shellWord, until } from './wording.ts';

/** Everything that a leaf of the run waits for, other than a worker or a child. */
export function leafWaits(facts: DiagnosisFacts): readonly Diagnosis[] {
  return facts.leaves.flatMap((standing) => {
    switch (standing.leaf.reason) {
      case 'input':
        return gate(facts, standing);
      case 'event':
        return [event(standing, standing.leaf.startedAt)];
      case 'retry':
        return backOff(facts, standing);
      case 'send_window':
        return sendWindow(facts, standing);
      case 'rate_limit':
      case 'pool':
        return limitWait(facts, standing, standing.leaf.reason);
      case 'sleep':
        return parkedSleep(facts, standing);
      // A timer that the due time of the run says already, or what is looked at elsewhere.
      case 'breaker':
      case 'delay':
      case 'handler':
      case 'worker':
      case 'child':
      case null:
        return [];
    }
  });
}

/** One that opens by events as well waits for both. */
function gate({ instance }: DiagnosisFacts, standing: StandingLeaf): readonly Diagnosis[] {
  const { leaf, blockId } = standing;
  const since = leaf.gate?.openedAt ?? leaf.startedAt;
  const value = leaf.gate?.choices[0]?.value ?? 'yes';
  const signal = shellWord(`custom:human_input:${blockId ?? '<block>'}`);
  const asks =
    leaf.gate?.kind === 'outcome'
      ? 'asks what became of a try whose end is unknown'
      : 'waits for a human answer';
  const approval = diagnosis('PENDING_APPROVAL', {
    summary: `${nameOf(standing)} ${asks}`,
    evidence: [
      { label: 'waiting_since', summary: instant(since) },
      ...until('times_out_at', deadlineOf(leaf)),
    ],
    ...blockOf(standing),
    remediation: [
      {
        summary: 'send one of the choices',
        command: `orch8 signal ${instance.id} ${signal} ${quoted(JSON.stringify({ value }))}`,
        sideEffectRisk: true,
      },
    ],
  });
  return leaf.gate?.waitId === undefined ? [approval] : [approval, event(standing, since)];
}

/** The last instant at which an answer counts ([HI-9]). */
function deadlineOf({ gate: open }: Leaf): number | null {
  return open === null || open.timeoutMs === null ? null : open.openedAt + open.timeoutMs;
}

function event(standing: StandingLeaf, since: number): Diagnosis {
  return diagnosis('WAITING_EVENT', {
    summary: `${nameOf(standing)} waits for an event`,
    evidence: [
      { label: 'waiting_since', summary: instant(since) },
      ...until('times_out_at', standing.leaf.wakeAt),
    ],
    ...blockOf(standing),
  });
}

function backOff({ now }: DiagnosisFacts, standing: StandingLeaf): readonly Diagnosis[] {
  const { leaf, maxAttempts } = standing;
  if (leaf.wakeAt === null || leaf.wakeAt <= now || leaf.error === null) return [];
  const of = maxAttempts === null ? '' : ` of ${maxAttempts}`;
  const summary = `${nameOf(standing)} waits for try ${leaf.attempt + 1}${of} until ${instant(leaf.wakeAt)}`;
  const evidence = [...until('next_try_at', leaf.wakeAt), ...lastError(leaf)];
  return [diagnosis('RETRY_BACKOFF', { summary, evidence, ...blockOf(standing) })];
}

function lastError({ error }: Leaf): readonly Evidence[] {
  return error === null ? [] : [{ label: 'last_error', summary: redactedExcerpt(error.message) }];
}

function sendWindow({ now }: DiagnosisFacts, standing: StandingLeaf): readonly Diagnosis[] {
  const { wakeAt } = standing.leaf;
  if (wakeAt === null || wakeAt <= now) return [];
  const summary = `${nameOf(standing)} waits until its send window opens at ${instant(wakeAt)}`;
  return [diagnosis('SEND_WINDOW', { summary, evidence: until('opens_at', wakeAt), ...blockOf(standing) })];
}

/** Shown as running, although nothing works on it ([SETTLE-4]). Its end moves nothing while the run is paused. */
function parkedSleep({ instance, now }: DiagnosisFacts, standing: StandingLeaf): readonly Diagnosis[] {
  const { wakeAt } = standing.leaf;
  if (instance.state === 'paused' || wakeAt === null || wakeAt <= now) return [];
  const summary = `${nameOf(standing)} sleeps until ${instant(wakeAt)}`;
  return [
    diagnosis('WAITING_UNTIL', { summary, evidence: until('next_fire_at', wakeAt), ...blockOf(standing) }),
  ];
}
