import type { Store } from '../../src/ports/store/store.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import { TENANT, nextId } from '../support/turn-builder.ts';

/** Waits for limits of very many others, and keys that nobody holds any more. */
export const FILL_INSPECTION = `
INSERT INTO stepwell.limit_waits (tenant_id, kind, name, instance_id, until)
SELECT 'big-' || n % 50, 'rate_limit', 'key-' || n % 7, gen_random_uuid(), now() + interval '1 s' * (n - 20)
FROM generate_series(1, 20000) n;`;

/** One call of each wake. */
export function operationsOfWakes(
  store: Store,
  held: Claim,
): readonly (readonly [string, () => Promise<unknown>])[] {
  const wake = { ends: [], startAt: null, limit: null };
  const target = { tenantId: TENANT, instanceId: held.instanceId };
  const mail = { reason: 'rate_limit', name: 'mail' } as const;
  return [
    ['a wake', () => store.wakeInstance({ ...target, factId: nextId(), wake })],
    ['a wake of those that wait for a limit', () => store.wakeLimitWaiters(TENANT, mail, 10)],
    ['a wake of ten of very many', () => store.wakeLimitWaiters('big-1', { ...mail, name: 'key-1' }, 10)],
  ];
}

/** One call of each read for people who look at a run. */
export function readsOfInspection(
  store: Store,
  held: Claim,
): readonly (readonly [string, () => Promise<unknown>])[] {
  const { tenantId, instanceId } = held;
  const asked = { handlers: ['handler-7'], childIds: [instanceId], rateKeys: ['mail'] };
  const request = { ...asked, tenantId, instanceId, aliveWithinMs: 1_000, concurrencyKey: 'key-8' };
  return [
    ['what stands around an instance', () => store.getSurroundings(request)],
    ['the signals of an instance', () => store.listSignals({ tenantId, instanceId, limit: 10, offset: 0 })],
    ['the input of a start', () => store.getStartInput(tenantId, instanceId)],
    ['what an instance stands at', () => store.listStanding(tenantId, [instanceId], 10)],
  ];
}
