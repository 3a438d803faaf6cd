import * as z from 'zod';
import type { SignalRow } from '../../ports/store/inspection.ts';
import type { Timer } from '../../core/run/wake.ts';
import {
  JsonValue,
  limitParameter,
  OffsetParameter,
  optionalTimestamp,
  Timestamp,
  timestamp,
  Uuid,
} from './wire-values.ts';

export const SignalQuery = z.object({ limit: limitParameter(100, 200), offset: OffsetParameter });

/** An accepted signal (http-api.md 6.3) and what came of it ([SIG-9]). */
export const SignalBody = z.object({
  id: Uuid,
  instance_id: Uuid,
  signal_type: z.union([
    z.enum(['pause', 'resume', 'cancel', 'update_context']),
    z.object({ custom: z.string() }),
  ]),
  /** null as well when it is left out. */
  payload: JsonValue,
  /** True for a payload that is too large for a list. */
  payload_left_out: z.boolean(),
  delivered: z.boolean(),
  created_at: Timestamp,
  delivered_at: Timestamp.nullable(),
  /** null while it waits for a turn. */
  disposition: z.enum(['applied', 'no_effect', 'rejected', 'expired']).nullable(),
});
export const SignalList = z.array(SignalBody);

export function showSignal(row: SignalRow): z.infer<typeof SignalBody> {
  return {
    id: row.id,
    instance_id: row.instanceId,
    signal_type: showType(row.signalType),
    payload: row.payload,
    payload_left_out: row.isLeftOut,
    delivered: row.deliveredAt !== null,
    created_at: timestamp(row.createdAt),
    delivered_at: optionalTimestamp(row.deliveredAt),
    disposition: row.disposition,
  };
}

function showType(type: string): z.infer<typeof SignalBody>['signal_type'] {
  switch (type) {
    case 'pause':
    case 'resume':
    case 'cancel':
    case 'update_context':
      return type;
    default:
      return { custom: type.replace(/^custom:/, '') };
  }
}

export const WakeInput = z.object({ node_id: Uuid.nullish() }).optional();

/** Timers that a wake has ended; `start` is that of the run itself, and names no block. */
export const WokenBody = z.object({
  woken: z.array(
    z.object({
      block_id: z.string().nullable(),
      iteration: z.string(),
      reason: z.enum(['delay', 'send_window', 'retry', 'sleep', 'poll', 'start']),
      /** When it would have ended by itself. */
      wake_at: Timestamp,
    }),
  ),
});

export function showTimer(timer: Timer): z.infer<typeof WokenBody>['woken'][number] {
  const at = timer.reason === 'start' ? { blockId: null, iteration: '' } : timer;
  return {
    block_id: at.blockId,
    iteration: at.iteration,
    reason: timer.reason,
    wake_at: timestamp(timer.wakeAt),
  };
}
