import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/ports/store/store.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import {
  TENANT,
  auditEntry,
  frame,
  newInstance,
  nextId,
  row,
  settleAs,
  task,
  turnOf,
  write,
} from '../support/turn-builder.ts';
import { LEASE_MS, claimRequest, commitOk, request, signalOf, startClaimed, workerHasTask } from './acts.ts';
import { type Session, useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';

/**
 * What the operations read on large tables, counted by the server per transaction: the number of rows that are
 * touched does not depend on how many there are. Counting is stricter than looking at plans, since it
 * sees the statements inside the functions as they really ran.
 */
const ROWS = 50_000;
/** Rows that one operation may touch, by index or by scanning a table (or partition) that holds hardly any. */
const TOUCHED_MAX = 120;

const FILL = `
INSERT INTO stepwell.task_instances (id, sequence_id, run_id, created_at, priority, tenant_id, namespace, timezone, state,
  next_fire_at, due_at, updated_at, progress_at, metadata)
SELECT gen_random_uuid(), '0190aaaa-0000-7000-8000-000000000000', gen_random_uuid(), now(), n % 3, 'big-' || n % 5, 'n', 'UTC',
  CASE WHEN n % 4 = 0 THEN 'completed' ELSE 'scheduled' END, now(),
  CASE WHEN n % 4 = 0 THEN NULL ELSE now() - interval '1 s' * (n % 1000) END, now(), now(), jsonb_build_object('n', n::text)
FROM generate_series(1, ${ROWS}) n;
INSERT INTO stepwell.block_outputs (id, instance_id, rev, created_at, run_no, ordinal, attempt, output_size, tenant_id, block_id,
  iteration, kind, output)
SELECT gen_random_uuid(), i.id, n, now(), 1, 0, 0, 2, i.tenant_id, 'block-' || n % 10, 'l:' || n, 'result', '{}'
FROM (SELECT id, tenant_id FROM stepwell.task_instances LIMIT 5) i, generate_series(1, ${ROWS / 5}) n;
INSERT INTO stepwell.signal_inbox (instance_id, seq, id, tenant_id, kind, signal_type, payload, created_at)
SELECT i.id, 1, gen_random_uuid(), i.tenant_id, 'signal', 'custom:x', 'null', now() FROM stepwell.task_instances i WHERE i.tenant_id LIKE 'big-%';
INSERT INTO stepwell.worker_tasks (id, tenant_id, instance_id, block_id, iteration, handler_name, params, context, attempt,
  idempotency_key, created_at)
SELECT gen_random_uuid(), i.tenant_id, i.id, 'b', '', 'filler', '{}', '{}', 0, 'k', now() FROM stepwell.task_instances i;
INSERT INTO stepwell.audit_log (tenant_id, instance_id, id, event_type, created_at)
SELECT i.tenant_id, i.id, gen_random_uuid(), 'state_transition', now() FROM stepwell.task_instances i;
INSERT INTO stepwell.kv (instance_id, key, tenant_id, value, updated_at)
SELECT i.id, 'filler', i.tenant_id, '1', now() FROM stepwell.task_instances i;
INSERT INTO stepwell.sequences (id, tenant_id, namespace, name, version, status, definition, content_hash, created_at)
SELECT gen_random_uuid(), 'big', 'n', 's' || n, 1, 'draft', '{}', '', now() FROM generate_series(1, 20000) n;`;

const COUNTERS = `
SELECT coalesce(sum(seq_tup_read), 0) AS scanned, coalesce(sum(idx_tup_fetch), 0) AS fetched
FROM pg_stat_xact_user_tables WHERE schemaname = 'stepwell'`;

interface Cost {
  readonly scanned: number;
  readonly fetched: number;
}

async function costOf(session: Session, act: () => Promise<unknown>): Promise<Cost> {
  await session.begin();
  const before = await countersOf(session);
  await act();
  await session.rows("SELECT set_config('role', 'none', true)");
  const after = await countersOf(session);
  await session.rollback();
  return { scanned: after.scanned - before.scanned, fetched: after.fetched - before.fetched };
}

/** Summed over all tables of ours; the server goes on counting over several transactions. */
async function countersOf(session: Session): Promise<Cost> {
  const [row] = await session.rows(COUNTERS);
  return { scanned: Number(row?.['scanned']), fetched: Number(row?.['fetched']) };
}

function tooDear(costs: ReadonlyMap<string, Cost>): readonly string[] {
  return [...costs].flatMap(([name, { scanned, fetched }]) =>
    scanned + fetched <= TOUCHED_MAX ? [] : [`${name}: ${scanned} scanned, ${fetched} fetched`],
  );
}

interface Scene {
  readonly store: Store;
  readonly held: Claim;
  readonly batch: readonly Claim[];
  readonly worker: { readonly id: string; readonly taskId: string; readonly claimEpoch: number };
}

/** One call of every operation that runs while workflows run. */
function operations({
  store,
  held,
  batch,
  worker,
}: Scene): readonly (readonly [string, () => Promise<unknown>])[] {
  const key = { tenantId: held.tenantId, instanceId: held.instanceId };
  const step = (claim: Claim) =>
    turnOf(claim, { rows: [row({ blockId: `b-${nextId()}` })], frames: [write(frame())] });
  const end = (claim: Claim) =>
    turnOf(claim, { audit: [auditEntry('running', 'completed')], settle: settleAs('completed') });
  const poll = { tenantId: TENANT, workerId: 'w', version: null, limit: 5 };
  return [
    ['a claim of ten that are due', () => store.claimDue(request(10))],
    ['a claim of expired leases', () => store.claimExpired(request(10))],
    [
      'a named claim',
      () => store.claimOne({ ...claimRequest(held.instanceId), leaseToken: held.leaseToken }),
    ],
    ['a lone commit', () => store.commit([step(held)])],
    ['a lone end', () => store.commit([end(held)])],
    ['a group commit of ten', () => store.commit(batch.map(step))],
    ['a group of ten ends', () => store.commit(batch.map(end))],
    ['a renewal', () => store.renewLeases(batch, LEASE_MS)],
    ['a release', () => store.releaseLeases(batch)],
    ['a look at the inbox', () => store.peekInbox(batch.map((claim) => ({ ...claim, seenSeq: 0 })))],
    ['the next wake', () => store.nextWake()],
    [
      'a start',
      () => store.start({ instances: [newInstance({ idempotencyKey: nextId() })], onKnownKey: 'first' }),
    ],
    ['a signal', () => store.signal(signalOf(held.instanceId))],
    [
      'a report',
      () =>
        store.reportTask({
          tenantId: TENANT,
          taskId: worker.taskId,
          workerId: 'w',
          claimEpoch: worker.claimEpoch,
          factId: nextId(),
          outcome: { ok: true, output: 1 },
          logs: [],
        }),
    ],
    [
      'a heartbeat',
      () =>
        store.heartbeatTask({
          tenantId: TENANT,
          taskId: worker.taskId,
          workerId: 'w',
          claimEpoch: worker.claimEpoch,
        }),
    ],
    ['a poll', () => store.pollTasks({ ...poll, handlerName: 'parcel_lookup' })],
    [
      'a poll without a tenant',
      () => store.pollTasks({ ...poll, tenantId: null, handlerName: 'parcel_lookup' }),
    ],
    ['a look for silent workers', () => store.releaseSilentTasks(60_000, 10)],
    ['a read of outputs', () => store.readOutputs(key, ['lookup', 'other'])],
    ['a read of state', () => store.readState(key, ['k'])],
  ];
}

/** Reads of the API. They are planned anew each time, with the statistics of the hour. */
function reads({ store, held }: Scene): readonly (readonly [string, () => Promise<unknown>])[] {
  return [
    ['an instance', () => store.getInstance(TENANT, held.instanceId)],
    ['a frontier', () => store.getFrontier(TENANT, held.instanceId)],
    [
      'the outputs of an instance',
      () => store.listOutputs(TENANT, held.instanceId, { node: true, retry: true }),
    ],
    ['the node rows of an instance', () => store.listNodeRows(TENANT, held.instanceId)],
    ['the audit rows of an instance', () => store.listAudit(TENANT, held.instanceId, 50)],
    [
      'the open gates',
      () =>
        store.listOpenGates({
          tenantId: null,
          namespace: null,
          instanceId: null,
          sequenceId: null,
          limit: 10,
          offset: 0,
        }),
    ],
  ];
}

async function setScene(store: Store): Promise<Scene> {
  const batch: Claim[] = [];
  for (let index = 0; index < 10; index += 1) batch.push(await startClaimed(store, { priority: 3 }));
  const held = await startClaimed(store);
  await commitOk(
    store,
    turnOf(held, { rows: [row()], kv: [{ key: 'k', value: 1 }], tasksCreated: [task()] }),
  );
  return {
    store,
    held: { ...held, instance: { ...held.instance, rev: 1 } },
    batch,
    worker: await workerHasTask(store),
  };
}

describe('operations on large tables', () => {
  const sessions = useSessions(MIGRATED);

  it('touch a bounded number of rows, with plans made when the tables were empty', async () => {
    const session = await sessions.open();
    const scene = await setScene(session.store);
    const acts = operations(scene);
    // Seven rounds: from the sixth call on the server keeps a plan.
    for (let round = 0; round < 7; round += 1) {
      for (const [, act] of acts) await costOf(session, act);
    }
    await session.rows(FILL);
    const costs = new Map<string, Cost>();
    for (const [name, act] of acts) costs.set(name, await costOf(session, act));
    await session.rows('ANALYZE');
    expect(tooDear(costs)).toEqual([]);
  });

  it('touch a bounded number of rows, with fresh plans and statistics', async () => {
    const session = await sessions.open();
    const scene = await setScene(session.store);
    const costs = new Map<string, Cost>();
    for (const [name, act] of [...operations(scene), ...reads(scene)]) {
      costs.set(name, await costOf(session, act));
    }
    expect(tooDear(costs)).toEqual([]);
  });

  it('find a page of instances without reading the others', async () => {
    const session = await sessions.open();
    const list = { namespace: null, sequenceId: null, states: [], metadata: [], limit: 20, offset: 0 };
    for (const tenantId of ['big-1', null]) {
      const { scanned, fetched } = await costOf(session, () =>
        session.store.listInstances({ ...list, tenantId }),
      );
      expect(scanned).toBe(0);
      // 20 per tenant and state at most, and those of the page once more.
      expect(fetched).toBeLessThanOrEqual(1_200);
    }
    const metadata = [['n', '4711']] as const;
    const { scanned } = await costOf(session, async () => {
      expect(await session.store.listInstances({ ...list, tenantId: 'big-1', metadata })).toHaveLength(1);
    });
    expect(scanned).toBe(0);
  });

  it('give each tenant its share of a claim, whatever the backlog of the others (RULINGS A30)', async () => {
    const session = await sessions.open();
    for (let index = 0; index < 3; index += 1)
      await session.store.start({
        instances: [newInstance({ tenantId: 'small', priority: 2 })],
        onKnownKey: 'first',
      });
    const { fetched } = await costOf(session, async () => {
      const { claims } = await session.store.claimDue(request(30));
      expect(claims.filter(({ tenantId }) => tenantId === 'small')).toHaveLength(3);
    });
    expect(fetched).toBeLessThanOrEqual(400);
  });
});
