import { describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { type Session, useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';
import { type Cost, costOf } from './touched-rows.ts';

/** Runs that have ended, runs that sleep, and what years of work leave in the other tables; nothing of it is due. */
const FILL = [
  `INSERT INTO stepwell.task_instances (id, sequence_id, run_id, created_at, priority, tenant_id, namespace, timezone, state,
    next_fire_at, due_at, updated_at, progress_at)
  SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), 1, 'big-' || n % 5, 'n', 'UTC',
    CASE WHEN n % 2 = 0 THEN 'completed' ELSE 'scheduled' END, CASE WHEN n % 2 = 1 THEN now() + interval '1 h' + interval '1 s' * n END,
    CASE WHEN n % 2 = 1 THEN now() + interval '1 h' + interval '1 s' * n END, now(), now()
  FROM generate_series(1, 100000) n`,
  `INSERT INTO stepwell.worker_tasks (id, tenant_id, namespace, instance_id, block_id, iteration, handler_name, params, context,
    attempt, idempotency_key, created_at, state, worker_id, heartbeat_at)
  SELECT gen_random_uuid(), 'big', 'n', gen_random_uuid(), 'b', '', 'filler', '{}', '{}', 0, 'k', now(),
    CASE WHEN n % 2 = 0 THEN 'completed' ELSE 'claimed' END, 'w', now() FROM generate_series(1, 20000) n`,
  `INSERT INTO stepwell.webhook_sends (id, tenant_id, instance_id, event_type, url, attempts, delivered, first_attempt_at,
    last_attempt_at)
  SELECT gen_random_uuid(), 'big', gen_random_uuid(), 'instance.completed', 'https://a', 1, true, now(), now()
  FROM generate_series(1, 20000) n`,
  `INSERT INTO stepwell.webhook_outbox (id, tenant_id, instance_id, event_type, url, payload, next_attempt_at, created_at)
  SELECT gen_random_uuid(), 'big', gen_random_uuid(), 'instance.completed', 'https://a/' || n % 3, '{}', now() + interval '1 h', now()
  FROM generate_series(1, 20000) n`,
  `INSERT INTO stepwell.sessions (id, tenant_id, session_key, data, expires_at, created_at, updated_at, state)
  SELECT gen_random_uuid(), 'big', n::text, '{}', now() + interval '1 d' * (n % 3 - 1), now(), now(),
    CASE WHEN n % 3 = 0 THEN 'expired' ELSE 'active' END FROM generate_series(1, 20000) n WHERE n % 3 <> 1`,
  `INSERT INTO stepwell.schedules (id, tenant_id, namespace, sequence_id, cron_expr, timezone, enabled, metadata, overlap_policy,
    next_fire_at, created_at, updated_at)
  SELECT gen_random_uuid(), 'big', 'n', gen_random_uuid(), '* * * * *', 'UTC', true, '{}', 'allow', now() + interval '1 h', now(), now()
  FROM generate_series(1, 20000) n`,
  `INSERT INTO stepwell.idempotency_keys (tenant_id, key_hash, fingerprint, seed, attempt, expires_at)
  SELECT 'big', n::text, 'f', gen_random_uuid(), 1, now() + interval '1 d' FROM generate_series(1, 20000) n`,
  `INSERT INTO stepwell.webhook_nonces (slug, nonce, tenant_id, expires_at)
  SELECT 'orders', n::text, 'big', now() + interval '1 h' FROM generate_series(1, 20000) n`,
];
const SAID = {
  announcement: {
    buildId: 'plans',
    handlers: [{ name: 'charge', kind: 'effect' as const }],
    within: { announcedWithinMs: 90_000, polledWithinMs: 120_000 },
  },
  beat: { id: nextId(), name: 'plans', silentMs: 120_000 },
};
/** One entry of an index for each question, and the own rows of names and nodes. */
const PROBES_MAX = 24;
/** Names of handlers and nodes are tables of a few rows, which are read as they are. */
const SCANNED_MAX = 6;

describe('the look of a sweep over 100,000 instances that have ended or sleep', () => {
  const sessions = useSessions(MIGRATED);
  const look = (session: Session): Promise<Cost> => costOf(session, () => session.store.lookForWork(SAID));

  it('touches one row for each question, by plans that were made when the tables were empty and by fresh ones', async () => {
    const early = await sessions.open();
    // From the sixth call on the server keeps a plan.
    for (let round = 0; round < 7; round += 1) await look(early);
    for (const text of FILL) await early.rows(text);
    const stale = await look(early);
    await early.rows('ANALYZE');
    const fresh = await look(await sessions.open());
    for (const { scanned, fetched } of [stale, fresh]) {
      expect(scanned).toBeLessThanOrEqual(SCANNED_MAX);
      expect(fetched).toBeLessThanOrEqual(PROBES_MAX);
    }
    const seen = await early.store.lookForWork({});
    expect(seen).toMatchObject({ dueAt: seen.laterAt, leaseUntil: null, hasExpired: false });
    expect([seen.dueAt, seen.scheduleAt, seen.webhookAt, seen.taskHeardAt]).not.toContain(null);
  }, 120_000);
});
