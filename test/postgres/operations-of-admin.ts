import type { KeyReservation } from '../../src/ports/store/idempotency.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import { TENANT, newInstance, nextId, task, turnOf } from '../support/turn-builder.ts';

const URL_OF_SLOW = 'https://slow.example.com/';
const PARKED_ID = nextId();

/** Outgoing webhooks that wait, are parked and were sent, and pins, rules and commands of very many others. */
export const FILL_ADMIN = `
INSERT INTO stepwell.webhook_outbox (id, tenant_id, instance_id, event_type, url, payload, status, attempts, next_attempt_at,
  created_at)
SELECT gen_random_uuid(), 'big-' || n % 50, gen_random_uuid(), 'instance.completed', '${URL_OF_SLOW}', '{}',
  CASE WHEN n % 2 = 0 THEN 'parked' ELSE 'pending' END, 1, CASE WHEN n % 2 = 1 THEN now() - interval '1 s' * n END, now()
FROM generate_series(1, 20000) n;
INSERT INTO stepwell.webhook_outbox (id, tenant_id, instance_id, event_type, url, payload, status, attempts, created_at)
VALUES ('${PARKED_ID}', '${TENANT}', gen_random_uuid(), 'instance.completed', '${URL_OF_SLOW}', '{}', 'parked', 1, now());
INSERT INTO stepwell.webhook_sends (id, tenant_id, instance_id, event_type, url, attempts, delivered, first_attempt_at,
  last_attempt_at)
SELECT o.id, o.tenant_id, o.instance_id, o.event_type, o.url, 1, false, now(), now() FROM stepwell.webhook_outbox o;
INSERT INTO stepwell.webhook_attempts (delivery_id, attempt_number, id, tenant_id, attempted_at, duration_ms, success, signed)
SELECT o.id, 1, gen_random_uuid(), o.tenant_id, now(), 1, false, false FROM stepwell.webhook_outbox o;
INSERT INTO stepwell.version_pins (tenant_id, handler_name, min_version, created_at, updated_at)
SELECT 'big-' || n % 50, 'handler-' || n, '1', now(), now() FROM generate_series(1, 20000) n;
INSERT INTO stepwell.routing_rules (id, tenant_id, handler_name, queue_override, priority, enabled, created_at, updated_at)
SELECT gen_random_uuid(), CASE WHEN n % 2 = 0 THEN '${TENANT}' ELSE 'big-1' END, 'handler-' || n, 'q', n, true, now(), now()
FROM generate_series(1, 20000) n;
INSERT INTO stepwell.worker_commands (id, worker_id, command, payload, created_at)
SELECT gen_random_uuid(), 'worker-' || n, 'ping', 'null', now() FROM generate_series(1, 20000) n;
INSERT INTO stepwell.idempotency_keys (tenant_id, key_hash, fingerprint, seed, attempt, answer_status, expires_at)
SELECT 'big-' || n % 50, 'key-' || n, 'print', gen_random_uuid(), 1, 200, now() + interval '1 s' * (n - 50)
FROM generate_series(1, 20000) n;
INSERT INTO stepwell.idempotency_calls (seed, scope, name, n, tenant_id, result)
SELECT k.seed, '', 'name', n, k.tenant_id, '[]' FROM stepwell.idempotency_keys k, generate_series(1, 2) n;`;

function reservation(keyHash: string): KeyReservation {
  return { tenantId: 'big-0', keyHash, fingerprint: 'print', seed: nextId(), leaseMs: 1000 };
}

/** One call of each operation of senders and administrators. */
export function operationsOfAdmin(
  store: Store,
  held: Claim,
): readonly (readonly [string, () => Promise<unknown>])[] {
  const claimToken = nextId();
  const claim = { claimToken, leaseMs: 60_000 };
  const anything = { url: null, eventType: null, delivered: null, errorClass: null };
  const byHand = { ...claim, tenantId: null, id: PARKED_ID };
  const attempt = { id: PARKED_ID, claimToken, durationMs: 1, signed: false, statusCode: 500 };
  const poll = { handlerName: 'handler-7', workerId: 'w', version: '2.0', limit: 5 };
  return [
    ['a look of a sender', () => store.claimWebhooks({ ...claim, perUrl: 8, underWay: {} })],
    [
      'an attempt by hand',
      async () => {
        await store.claimWebhook(byHand);
        await store.finishWebhook({ ...attempt, errorClass: 'http_status', errorExcerpt: null });
      },
    ],
    [
      'a deployment of a sequence',
      () =>
        store.publishDeployed({
          ...{ tenantId: TENANT, namespace: 'default', name: 'deployed' },
          ...{ sequence: null, newestSeen: null, contentHash: 'a', deployedAt: null },
        }),
    ],
    ['the parked webhooks', () => store.listWebhookOutbox(null, 'parked', 10)],
    ['the parked webhooks of a tenant', () => store.listWebhookOutbox(TENANT, 'parked', 10)],
    ['the latest deliveries', () => store.listWebhookDeliveries({ ...anything, tenantId: null, limit: 10 })],
    ['the attempts of a delivery', () => store.listWebhookAttempts(null, PARKED_ID)],
    ['a poll under a pin', () => store.pollTasks({ ...poll, tenantId: 'big-7' })],
    ['a poll of all tenants under pins', () => store.pollTasks({ ...poll, tenantId: null })],
    [
      'a task under routing rules',
      () =>
        store.commit([
          turnOf(held, { tasksCreated: [task({ blockId: `b-${nextId()}`, handlerName: 'handler-8' })] }),
        ]),
    ],
    ['the first routing rules of a tenant', () => store.listRoutingRules(TENANT, 10)],
    ['the first routing rules of all', () => store.listRoutingRules(null, 10)],
    ['the pins of a tenant', () => store.listVersionPins('big-7', 10)],
    ['the first pins of all', () => store.listVersionPins(null, 10)],
    ['the commands of a worker', () => store.listCommands(null, 'worker-9', 10)],
    ['a sign of life of a node', () => store.heartbeatNode(nextId(), 'north', 120_000)],
    ['a request whose key is known', () => store.reserveKey(reservation('key-8000'))],
    [
      'a request with a key, carried out',
      async () => {
        const { tenantId, keyHash } = reservation('new');
        const reserved = await store.reserveKey(reservation('new'));
        if (reserved.status !== 'taken') throw new Error(reserved.status);
        const attempt = { tenantId, keyHash, seed: reserved.seed, number: 2 };
        await (await store.openAttempt(attempt)).of('').addCheckpoint({
          ...{ tenantId: held.tenantId, instanceId: held.instanceId, id: nextId(), data: null },
        });
        await store.finishAttempt(attempt, { status: 201, type: null, body: null });
        await store.releaseAttempt(attempt);
      },
    ],
    [
      'a start under a plan',
      () =>
        store.start({
          instances: [newInstance({ tenantId: 'planned' })],
          onKnownKey: 'first',
          activeLimits: [{ tenantId: 'planned', maxActive: 10, startsPerSec: 100 }],
        }),
    ],
  ];
}
