import type { JsonObject } from '../core/json.ts';
import type { Edit } from '../core/run/go-back/edit.ts';
import type { Refused } from '../core/run/go-back/refused.ts';
import { ok, type Result } from '../core/result.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';
import type { QueuedSignal } from './queued-signals.ts';
import { withIds } from './queued-signals.ts';

export interface ResumeInput {
  readonly instanceId: string;
  readonly blockId: string;
  readonly iteration: string | null;
  /** Merged into data key by key ([CTX-4]). */
  readonly data: JsonObject;
  readonly edit: Edit | null;
  readonly signals: readonly QueuedSignal[];
}

export interface ResumedInstance {
  readonly resumedFrom: string;
  readonly iteration: string;
  readonly outputsDeleted: number;
  readonly signalsEnqueued: number;
}

/**
 * Lets a run go on from a block, which may stand anywhere in the tree and in any pass of its loops ([OP-5], [OP-6]). From
 * `failed`, `paused`, `completed`, `cancelled`, else 400. 400 for a block that is unknown or was not reached, 404 unknown
 * instance, 409 while something else works on it, 413 context too large, 422 for an output that breaks its schema.
 */
export async function resumeInstance(
  deps: UseCaseDeps,
  caller: Caller,
  input: ResumeInput,
): Promise<Result<ResumedInstance, Refusal>> {
  const { instanceId, blockId, iteration, data, edit } = input;
  const signals = withIds(deps, input.signals);
  const order = { blockId, iteration, data, edit, signals };
  const answer = await deps.runner.resume({ tenantId: caller.tenantId, instanceId }, order);
  switch (answer.status) {
    case 'resumed':
      return ok({
        resumedFrom: blockId,
        iteration: answer.iteration,
        outputsDeleted: answer.superseded,
        signalsEnqueued: signals.length,
      });
    case 'not_found':
      return notFound('instance', instanceId);
    case 'illegal':
      return refuse(
        'invalid_argument',
        `an instance cannot be resumed from a block while it is ${answer.from}`,
        {
          code: 'illegal_transition',
          details: { from: answer.from, to: 'scheduled' },
        },
      );
    case 'refused':
      return refusalOf(answer.refused);
    case 'busy':
      return refuse('conflict', `instance ${instanceId} is being worked on, try again`, {
        code: 'instance_busy',
      });
  }
}

export function refusalOf({ reason, message }: Refused): ReturnType<typeof refuse> {
  switch (reason) {
    case 'too_large':
      return refuse('payload_too_large', message, { code: 'context_too_large' });
    case 'invalid_output':
      return refuse('unprocessable_entity', message, { code: 'output_schema_violation' });
    case 'bad_iteration':
    case 'not_a_leaf':
    case 'not_reached':
    case 'not_retained':
    case 'rolled_back':
    case 'set_aside':
    case 'unknown_block':
      return refuse('invalid_argument', message, { code: reason });
  }
}
