import type { KeyAttempt, ReservedKey } from '../../src/ports/store/idempotency.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { TENANT, nextId } from '../support/turn-builder.ts';

/** Far beyond what the clock of a test moves by itself. */
const LEASE_MS = 3_600_000;

export function reserve(store: Store, keyHash: string, leaseMs = LEASE_MS): Promise<ReservedKey> {
  return store.reserveKey({ tenantId: TENANT, keyHash, fingerprint: 'print', seed: nextId(), leaseMs });
}

/** The next attempt of a request; one without a lease is over at once. */
export async function takeKey(store: Store, keyHash: string, leaseMs = LEASE_MS): Promise<KeyAttempt> {
  const reserved = await reserve(store, keyHash, leaseMs);
  if (reserved.status !== 'taken') throw new Error(reserved.status);
  return { tenantId: TENANT, keyHash, seed: reserved.seed, number: reserved.number };
}

export async function storeOfAttempt(store: Store, attempt: KeyAttempt): Promise<Store> {
  return (await store.openAttempt(attempt)).of('');
}

/** A call that leaves one more row each time it is made. */
export async function leaveNote(store: Store, instanceId: string): Promise<void> {
  await store.noteBatchAction(TENANT, [instanceId], 'failed', { action: 'note' });
}

export async function noteCount(store: Store, instanceId: string): Promise<number> {
  const rows = await store.listAudit(TENANT, instanceId, 100);
  return (rows ?? []).filter(({ eventType }) => eventType === 'batch_action').length;
}
