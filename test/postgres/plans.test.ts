import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/ports/store/store.ts';
import type { ScheduleRecord } from '../../src/ports/store/schedules.ts';
import type { Claim, TurnCommit } from '../../src/ports/store/turn.ts';
import { fireOf, newSchedule } from '../store-contract/schedules.ts';
import {
  TENANT,
  auditEntry,
  frame,
  newInstance,
  nextId,
  row,
  sequence,
  settleAs,
  task,
  turnOf,
  write,
} from '../support/turn-builder.ts';
import { LEASE_MS, claimRequest, commitOk, request, signalOf, startClaimed, workerHasTask } from './acts.ts';
import { FILL, SCHEDULE_ID } from './large-tables.ts';
import { FILL_BEYOND, operationsBeyond } from './operations-beyond.ts';
import { FILL_ADMIN, operationsOfAdmin } from './operations-of-admin.ts';
import { fillItems, operationsOfItems } from './operations-of-items.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';
import { type Cost, costOf, tooDear } from './touched-rows.ts';

interface Scene {
  readonly store: Store;
  readonly held: Claim;
  readonly batch: readonly Claim[];
  /** It has ended and its hooks are being run. */
  readonly hooked: Claim;
  readonly worker: { readonly id: string; readonly taskId: string; readonly claimEpoch: number };
  readonly schedule: ScheduleRecord;
}

/** One call of every operation that runs while workflows run. */
function operations({
  store,
  held,
  batch,
  hooked,
  worker,
  schedule,
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
    ['a commit of a hook', () => store.commit([hookOf(hooked, { rows: [row({ kind: 'hook' })] })])],
    [
      'the last commit after an end',
      () => store.commit([hookOf(hooked, { settle: settleAs('failed', { afterEnd: true }) })]),
    ],
    ['a webhook in a commit', () => store.commit([turnOf(held, { webhooks: [webhook()] })])],
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
    ...operationsBeyond(store, held, batch[0] ?? held),
    ...operationsOfItems(store, batch[9] ?? held),
    ...operationsOfAdmin(store, held),
    ['a look for silent workers', () => store.releaseSilentTasks(60_000, 10)],
    ['a read of outputs', () => store.readOutputs(key, ['lookup', 'other'])],
    ['a read of state', () => store.readState(key, ['k'])],
    ['a look for due schedules', () => store.dueSchedules(10)],
    ['a fire of a schedule', () => store.fireSchedule(fireOf(schedule))],
    ['a look for higher work', () => store.hasHigherDue('big-1', 0)],
    ['a removal of what is over', () => store.removeExpired(10)],
    [
      'a change of a run',
      () => store.acceptChange({ ...key, id: nextId(), expected: 0, change: injection() }),
    ],
    ['the changes of a run', () => store.listShapeChanges(key)],
    ['a commit that applies a change', () => store.commit([shapeOf(held)])],
    ['a checkpoint', () => store.addCheckpoint({ ...key, id: nextId(), data: 1 })],
    ['the last checkpoint', () => store.listCheckpoints(TENANT, held.instanceId, 1)],
    ['a prune of checkpoints', () => store.pruneCheckpoints(TENANT, held.instanceId, 100)],
    [
      'a signal to ten',
      () =>
        store.signalMany({
          tenantId: TENANT,
          signals: batch.map(({ instanceId }) => ({ instanceId, signalId: nextId() })),
          signalType: 'custom:x',
          payload: null,
          details: {},
        }),
    ],
  ];
}

/** Reads of the API. They are planned anew each time, with the statistics of the hour. */
function reads({ store, held }: Scene): readonly (readonly [string, () => Promise<unknown>])[] {
  return [
    ['an instance', () => store.getInstance(TENANT, held.instanceId)],
    [
      'the oldest instances that fit',
      () =>
        store.findInstances(
          { tenantId: 'big-1', namespace: null, sequenceId: null, states: ['scheduled'], metadata: [] },
          50,
        ),
    ],
    ['a page of events', () => store.listEvents({ tenantId: TENANT, status: null, limit: 20 })],
    ['a schedule', () => store.getSchedule(null, SCHEDULE_ID)],
    ['a page of schedules', () => store.listSchedules({ tenantId: 'big', limit: 20, offset: 0 })],
    ['a session by its key', () => store.findSession('big', '4711')],
    ['a frontier', () => store.getFrontier(TENANT, held.instanceId)],
    [
      'the outputs of an instance',
      () => store.listOutputs(TENANT, held.instanceId, { node: true, retry: true }),
    ],
    ['the node rows of an instance', () => store.listNodeRows(TENANT, held.instanceId)],
    ['the journal of an instance', () => store.listJournal(TENANT, held.instanceId, 50)],
    ['the outbox', () => store.listWebhookOutbox(TENANT, 'parked', 50)],
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
    hooked: await endedWithHooks(store),
    worker: await workerHasTask(store),
    schedule: await addSchedule(store),
  };
}

const HOOKS = { cause: 'on_failure', runNo: 1, runId: nextId(), next: 0, tasks: [] } as const;

const hookOf = (claim: Claim, more: Partial<TurnCommit>): TurnCommit =>
  turnOf(claim, { instance: { hooks: null }, ...more });

const injection = () => ({
  kind: 'inject' as const,
  blocks: [{ type: 'step', id: 'x', handler: 'noop' }],
  position: null,
  before: null,
  after: null,
});

function shapeOf(held: Claim): TurnCommit {
  const { kind: _, ...placed } = injection();
  const shape = { accepted: 1, applied: 1, added: [{ ...placed, id: nextId(), change: 1 }] };
  return turnOf(held, { strict: true, instance: { shape } });
}

const webhook = () => ({
  id: nextId(),
  eventType: 'instance.sla_breached' as const,
  url: 'https://hooks.example.com/a',
  payload: {},
});

/** Claimed by its tenant's name: the tables are full of others that are due. */
async function endedWithHooks(store: Store): Promise<Claim> {
  const begun = await startClaimed(store);
  const { now } = await store.ping();
  const settle = settleAs('failed', { dueAt: now });
  await commitOk(store, turnOf(begun, { instance: { hooks: HOOKS }, settle }));
  const answer = await store.claimOne(claimRequest(begun.instanceId));
  if (answer.status !== 'claimed') throw new Error(answer.status);
  return answer.claim;
}

/** One that looks for what it has started before. */
async function addSchedule(store: Store): Promise<ScheduleRecord> {
  const present = await store.getSchedule(null, SCHEDULE_ID);
  if (present !== null) return present;
  const published = sequence({ name: nextId() });
  await store.insertSequence(published);
  const { now } = await store.ping();
  const schedule = newSchedule({
    id: SCHEDULE_ID,
    sequenceId: published.id,
    overlapPolicy: 'skip',
    nextFireAt: now,
  });
  await store.insertSchedule(schedule);
  return addSchedule(store);
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
    await session.rows(FILL_BEYOND);
    await session.rows(FILL_ADMIN);
    await session.rows(fillItems(scene.batch[9] ?? scene.held));
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
