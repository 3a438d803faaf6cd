import type { NewWait, Outside } from '../../src/core/run/outside.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import { TENANT, nextId, row, turnOf } from '../support/turn-builder.ts';

/** Many events and waits, those of one correlation key among them. */
export const FILL_BEYOND = `
INSERT INTO stepwell.events (id, tenant_id, event_name, producer_event_id, correlation_key, payload, received_at)
SELECT gen_random_uuid(), '${TENANT}', 'paid', 'p-' || n, 'o-' || n, '{}', now() FROM generate_series(1, 20000) n;
INSERT INTO stepwell.event_waits (id, tenant_id, instance_id, block_id, iteration, event_names, correlation_key, join_kind,
  needed, created_at)
SELECT gen_random_uuid(), '${TENANT}', gen_random_uuid(), 'ask', '', ARRAY['packed'], 'w-' || n, 'any', 1, now()
FROM generate_series(1, 20000) n;
INSERT INTO stepwell.emit_records (tenant_id, scope, dedupe_key, instance_id, sequence_name, expires_at)
SELECT '${TENANT}', '', 'k-' || n, gen_random_uuid(), 's', now() + interval '1 day' FROM generate_series(1, 20000) n;
INSERT INTO stepwell.blobs (instance_id, artifact_id, tenant_id, content_type, size, sha256, bytes, created_at)
SELECT gen_random_uuid(), 'a', '${TENANT}', 't', 1, '', '', now() FROM generate_series(1, 20000) n;`;

const NOTHING: Outside = { signals: [], emits: [], waits: [], waitsClosed: [], takes: [] };

/** One call of each operation that reaches beyond an instance. */
export function operationsBeyond(
  store: Store,
  held: Claim,
  other: Claim,
): readonly (readonly [string, () => Promise<unknown>])[] {
  const key = { tenantId: held.tenantId, instanceId: held.instanceId };
  const correlationKey = `o-${held.instanceId}`;
  const wait = (): NewWait => {
    const base = { id: nextId(), blockId: 'ask', iteration: '', names: ['paid'], correlationKey };
    return { ...base, join: 'any', needed: 1 };
  };
  const event = () => {
    const id = nextId();
    return { id, tenantId: TENANT, eventName: 'paid', producerEventId: id, correlationKey, payload: null };
  };
  const commit = (outside: Partial<Outside>) =>
    store.commit([
      turnOf(held, { rows: [row({ blockId: `b-${nextId()}` })], outside: { ...NOTHING, ...outside } }),
    ]);
  const signal = () => ({
    instanceId: other.instanceId,
    signalId: nextId(),
    signalType: 'custom:x',
    payload: null,
  });
  return [
    ['an event that nobody waits for', () => store.acceptEvent(event())],
    [
      'an event that is there already',
      async () => {
        const first = event();
        await store.acceptEvent(first);
        await store.acceptEvent({ ...first, id: nextId() });
      },
    ],
    [
      'a step that takes a pending event',
      async () => {
        const first = event();
        await store.acceptEvent(first);
        await commit({ takes: [{ ...wait(), eventIds: [first.id] }] });
      },
    ],
    [
      'a wait and the event that it takes',
      async () => {
        await commit({ waits: [wait()] });
        await store.acceptEvent(event());
      },
    ],
    ['a commit that signals another instance', () => commit({ signals: [signal()] })],
    ['a commit that closes a wait', () => commit({ waitsClosed: [nextId()] })],
    ['the wait of a step', () => store.eventWait(key, { blockId: 'ask', iteration: '' })],
    [
      'pending events',
      () => store.pendingEvents({ tenantId: TENANT, correlationKey: 'o-7', names: ['paid'], limit: 10 }),
    ],
    ['what a dedupe key has started', () => store.emitRecord(TENANT, { scope: '', key: 'k-7' })],
    ['an artifact', () => store.getBlob(key, 'a', 10)],
    [
      'a new artifact',
      () =>
        store.putBlob(key, {
          artifactId: 'b',
          contentType: 't',
          size: 1,
          sha256: '',
          bytes: new Uint8Array(1),
        }),
    ],
    ['a credential', () => store.getCredential(TENANT, 'rates')],
  ];
}
