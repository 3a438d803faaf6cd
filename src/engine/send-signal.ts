import { sha256Hex } from '../core/digest.ts';
import { canonicalJson, utf8Bytes, type Json } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import { nudgeAccepted, type Caller, type UseCaseDeps } from './use-case.ts';

export interface SignalInput {
  readonly instanceId: string;
  /** `pause`, `resume`, `cancel`, `update_context` or `custom:<name>`. */
  readonly signalType: string;
  readonly payload: Json;
  /** Chosen by the sender so that a repeat is recognised; null makes one (RULINGS A36). */
  readonly signalId: string | null;
  /** As `signalId`, in the sender's own words: the id is made from it, one that is a UUID already is taken as it is. */
  readonly deliveryId?: string | null;
}

export interface SentSignal {
  readonly signalId: string;
  /** True when a signal with this id had been accepted before. */
  readonly repeated: boolean;
}

function signalIdOf({ instanceId, deliveryId = null }: SignalInput): string | null {
  if (deliveryId === null) return null;
  const given = deliveryId.toLowerCase();
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(given)) return given;
  // A UUID of version 8, whose bits are the maker's own.
  const hex = sha256Hex(`${instanceId}\u0000${deliveryId}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Canonical JSON of a payload ([SIG-2]). */
export const MAX_SIGNAL_PAYLOAD_BYTES = 256 * 1024;

/** Stores a signal and lets it take effect ([SIG-1] to [SIG-5]). 413 payload, 404 unknown, 400 terminal instance. */
export async function sendSignal(
  deps: UseCaseDeps,
  caller: Caller,
  input: SignalInput,
): Promise<Result<SentSignal, Refusal>> {
  const target = { tenantId: caller.tenantId, instanceId: input.instanceId };
  if (input.signalType.startsWith('custom:') && input.signalType.slice('custom:'.length).trim() === '') {
    return refuse('invalid_argument', 'the name of a custom signal must not be empty');
  }
  const tooLarge = utf8Bytes(canonicalJson(input.payload)) > MAX_SIGNAL_PAYLOAD_BYTES;
  if (tooLarge && (await deps.store.getInstance(target.tenantId, target.instanceId)) !== null) {
    return refuse('payload_too_large', `signal payload exceeds ${MAX_SIGNAL_PAYLOAD_BYTES} bytes`);
  }
  if (tooLarge) return notFound('instance', input.instanceId);
  const answer = await deps.store.signal({
    ...target,
    signalId: input.signalId ?? signalIdOf(input) ?? deps.ids.newId(),
    signalType: input.signalType,
    payload: input.payload,
  });
  switch (answer.status) {
    case 'not_found':
      return notFound('instance', input.instanceId);
    case 'terminal':
      return refuse('invalid_argument', `instance ${input.instanceId} is already ${answer.state}`, {
        code: 'instance_terminal',
      });
    case 'repeated':
      return ok({ signalId: answer.signalId, repeated: true });
    case 'accepted':
      await nudgeAccepted(deps, target);
      return ok({ signalId: answer.signalId, repeated: false });
  }
}
