import type { Claim, TurnCommit } from '../../src/ports/store/turn.ts';
import {
  TENANT,
  auditEntry,
  frame,
  newInstance,
  nextId,
  row,
  settleAs,
  turnOf,
  write,
} from '../support/turn-builder.ts';
import { LEASE_MS, claimRequest, request, signalOf } from './acts.ts';
import type { Scene } from './large-scene.ts';

/** What goes along with the look of a sweep. */
const SAID = {
  announcement: {
    buildId: 'plans',
    handlers: [{ name: 'charge', kind: 'effect' as const }],
    within: { announcedWithinMs: 90_000, polledWithinMs: 120_000 },
  },
  beat: { id: '01900000-0000-8000-8000-0000000000aa', name: 'plans', silentMs: 120_000 },
};

/** One call of every operation of turns, signals and worker tasks. */
export function operationsOfTurns({
  store,
  held,
  batch,
  hooked,
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
    ['the look of a sweep', () => store.lookForWork(SAID)],
    ['how much is due', () => store.countDue(10)],
    ['what falls due soon', () => store.listUpcoming({ withinMs: 75_000, aheadMs: 900_000, limit: 10 })],
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
    ['a look for higher work', () => store.hasHigherDue('big-1', 0)],
    ['a removal of what is over', () => store.removeExpired(10)],
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

const hookOf = (claim: Claim, more: Partial<TurnCommit>): TurnCommit =>
  turnOf(claim, { instance: { hooks: null }, ...more });

const webhook = () => ({
  id: nextId(),
  eventType: 'instance.sla_breached' as const,
  url: 'https://hooks.example.com/a',
  payload: {},
});
