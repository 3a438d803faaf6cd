import type { ScheduleRecord } from '../../src/ports/store/schedules.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import { newSchedule } from '../store-contract/schedules.ts';
import { nextId, row, sequence, settleAs, task, turnOf } from '../support/turn-builder.ts';
import { claimRequest, commitOk, startClaimed, workerHasTask } from './acts.ts';
import { SCHEDULE_ID } from './large-tables.ts';

/** What the operations on large tables work on. */
export interface Scene {
  readonly store: Store;
  readonly held: Claim;
  readonly batch: readonly Claim[];
  /** It has ended and its hooks are being run. */
  readonly hooked: Claim;
  readonly worker: { readonly id: string; readonly taskId: string; readonly claimEpoch: number };
  readonly schedule: ScheduleRecord;
}

export async function setScene(store: Store): Promise<Scene> {
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
