import * as z from 'zod';
import type { Explanation } from '../../engine/explanation.ts';
import { InstanceStateName, optionalTimestamp, Timestamp, timestamp, Uuid } from './wire-values.ts';

/** Answer of `GET /instances/{id}/explain`. The words are explained at `Explanation`. */
export const ExplanationBody = z.object({
  instance_id: Uuid,
  state: InstanceStateName,
  summary: z.string(),
  observed_at: Timestamp,
  waiting_on: z.array(
    z.object({
      kind: z.enum(['timer', 'limit', 'task', 'gate', 'child', 'event', 'lease', 'pause', 'due']),
      block_id: z.string().nullable(),
      iteration: z.string(),
      since: Timestamp,
      until: Timestamp.nullable(),
      detail: z.string(),
    }),
  ),
  lease: z.object({ owner: z.string(), until: Timestamp, expired: z.boolean() }).nullable(),
  next: z
    .object({ action: z.enum(['turn', 'take_over', 'claim', 'fact', 'resume']), at: Timestamp.nullable() })
    .nullable(),
  inbox_pending: z.int(),
  unheard_signals: z.array(
    z.object({ signal_id: Uuid, name: z.string(), accepted_at: Timestamp, detail: z.string() }),
  ),
  claims: z.object({ count: z.int(), take_overs_in_row: z.int() }),
});

export function showExplanation(explanation: Explanation): z.infer<typeof ExplanationBody> {
  const { lease, next, claims } = explanation;
  return {
    instance_id: explanation.instanceId,
    state: explanation.state,
    summary: explanation.summary,
    observed_at: timestamp(explanation.observedAt),
    waiting_on: explanation.waitingOn.map(({ kind, blockId, iteration, since, until, detail }) => ({
      kind,
      block_id: blockId,
      iteration,
      since: timestamp(since),
      until: optionalTimestamp(until),
      detail,
    })),
    lease: lease === null ? null : { ...lease, until: timestamp(lease.until) },
    next: next === null ? null : { action: next.action, at: optionalTimestamp(next.at) },
    inbox_pending: explanation.inboxPending,
    unheard_signals: explanation.unheard.map(({ signalId, name, acceptedAt, detail }) => ({
      signal_id: signalId,
      name,
      accepted_at: timestamp(acceptedAt),
      detail,
    })),
    claims: { count: claims.count, take_overs_in_row: claims.takeOversInRow },
  };
}
