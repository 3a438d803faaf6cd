import type { NewInstance } from '../../src/ports/store/accept.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { Claim, NewTask, TurnCommit, TurnVerdict } from '../../src/ports/store/turn.ts';
import { TENANT, child, newInstance, nextId, settleAs, task, turnOf } from '../support/turn-builder.ts';

/** What the tests of interleavings begin with. Each act must succeed. */

export const LEASE_MS = 60_000;

export async function start(store: Store, overrides: Partial<NewInstance> = {}): Promise<string> {
  const instance = newInstance(overrides);
  const answer = await store.start({ instances: [instance], onKnownKey: 'first' });
  if (answer.status !== 'ok') throw new Error(answer.status);
  return instance.id;
}

export function request(limit = 100) {
  return { leaseToken: nextId(), leaseOwner: 'p', leaseMs: LEASE_MS, limit, perTenantLimit: 0 };
}

export function claimRequest(instanceId: string, tenantId: string = TENANT) {
  return {
    tenantId,
    instanceId,
    leaseToken: nextId(),
    leaseOwner: 'p',
    leaseMs: LEASE_MS,
    mode: 'hint' as const,
  };
}

export async function claim(store: Store, instanceId: string): Promise<Claim> {
  const answer = await store.claimOne(claimRequest(instanceId));
  if (answer.status !== 'claimed') throw new Error(`the claim was answered with ${answer.status}`);
  return answer.claim;
}

export async function startClaimed(store: Store, overrides: Partial<NewInstance> = {}): Promise<Claim> {
  return claim(store, await start(store, overrides));
}

export function signalOf(instanceId: string, signalType = 'custom:poke', signalId = nextId()) {
  return { tenantId: null, instanceId, signalId, signalType, payload: null };
}

export async function commitOne(store: Store, turn: TurnCommit): Promise<TurnVerdict> {
  const [verdict] = (await store.commit([turn])).verdicts;
  if (verdict === undefined) throw new Error('the commit was not answered');
  return verdict;
}

export async function commitOk(store: Store, turn: TurnCommit): Promise<void> {
  const { verdict } = await commitOne(store, turn);
  if (verdict !== 'ok') throw new Error(`the commit was answered with ${verdict}`);
}

/** A parent that waits for its running child. */
export async function family(store: Store): Promise<{ readonly parent: Claim; readonly child: Claim }> {
  const parent = await startClaimed(store);
  const started = child();
  await commitOk(store, turnOf(parent, { childrenStarted: [started] }));
  return {
    parent: { ...parent, instance: { ...parent.instance, rev: 1 } },
    child: await claim(store, started.id),
  };
}

/** An instance that waits for a worker, who has the task. */
export async function workerHasTask(
  store: Store,
  members: Partial<NewTask> = {},
): Promise<{ readonly id: string; readonly taskId: string; readonly claimEpoch: number }> {
  const begun = await startClaimed(store);
  const created = task({ handlerName: `handler-${begun.instanceId}`, ...members });
  await commitOk(
    store,
    turnOf(begun, { tasksCreated: [created], settle: settleAs('waiting', { openWaits: 1 }) }),
  );
  const [given] = await store.pollTasks({
    tenantId: TENANT,
    handlerName: created.handlerName,
    workerId: 'w',
    version: null,
    limit: 1,
  });
  if (given === undefined) throw new Error('the task was not given out');
  return { id: begun.instanceId, taskId: given.id, claimEpoch: given.claimEpoch };
}

export function reportOf(taskId: string, claimEpoch: number) {
  return {
    tenantId: TENANT,
    taskId,
    workerId: 'w',
    claimEpoch,
    factId: nextId(),
    outcome: { ok: true as const, output: { done: true } },
    logs: [],
  };
}
