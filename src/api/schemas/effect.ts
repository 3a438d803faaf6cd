import * as z from 'zod';
import type { EffectReceipt } from '../../core/run/effect-receipts.ts';
import { Timestamp, timestamp, Uuid } from './wire-values.ts';

/** What is known of an effect outside (http-api.md 5.4). */
export const EffectBody = z.object({
  id: Uuid,
  tenant_id: z.string(),
  /** Runs that go on elsewhere would share it; here it is the instance. */
  continuity_id: Uuid,
  /** Number of the run. */
  epoch: z.int(),
  instance_id: Uuid,
  block_id: z.string(),
  iteration: z.string(),
  kind: z.enum(['http', 'worker', 'webhook', 'message', 'storage', 'model', 'human_decision', 'custom']),
  state: z.enum([
    'planned',
    'prepared',
    'dispatched',
    'committed',
    'unknown',
    'verified',
    'compensated',
    'abandoned',
  ]),
  destination_fingerprint: z.string().nullable(),
  idempotency_key: z.string(),
  request_sha256: z.string(),
  provider_receipt_id: z.string().nullable(),
  attempt: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const EffectList = z.array(EffectBody);

export function showEffect(
  owner: { readonly tenantId: string; readonly instanceId: string },
  receipt: EffectReceipt,
): z.infer<typeof EffectBody> {
  return {
    id: receipt.id,
    tenant_id: owner.tenantId,
    continuity_id: owner.instanceId,
    epoch: receipt.runNo,
    instance_id: owner.instanceId,
    block_id: receipt.blockId,
    iteration: receipt.iteration,
    kind: receipt.kind,
    state: receipt.state,
    destination_fingerprint: receipt.destination,
    idempotency_key: receipt.idempotencyKey,
    request_sha256: receipt.requestSha256,
    // Results stay where they are stored.
    provider_receipt_id: null,
    attempt: receipt.attempt,
    created_at: timestamp(receipt.createdAt),
    updated_at: timestamp(receipt.updatedAt),
  };
}
