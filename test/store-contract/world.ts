import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { checkPromises } from '../../src/core/run/promises.ts';
import type { InstanceState } from '../../src/core/run/states.ts';
import type { NewInstance, PollRequest, WorkerTask } from '../../src/ports/store/accept.ts';
import type { Frontier, InstanceView } from '../../src/ports/store/reads.ts';
import { type Store, StoreUnavailable } from '../../src/ports/store/store.ts';
import type {
  Claim,
  ClaimDueRequest,
  ClaimOneRequest,
  NewTask,
  TurnCommit,
  TurnVerdict,
} from '../../src/ports/store/turn.ts';
import {
  TENANT,
  allDone,
  auditEntry,
  frame,
  newInstance,
  nextId,
  settleAs,
  task,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import type { MakeStore, StoreUnderTest } from './store-under-test.ts';

export const LEASE_MS = 60_000;

/** The store of the running test, with the acts that most tests begin with. */
export interface World {
  readonly store: Store;
  readonly underTest: StoreUnderTest;
  advance(ms: number): Promise<void>;
  now(): Promise<number>;
  start(overrides?: Partial<NewInstance>): Promise<string>;
  /** The named claim of a hint, which must succeed. */
  claim(id: string, overrides?: Partial<ClaimOneRequest>): Promise<Claim>;
  /** As `claim`, but whatever the state: an operator's claim. */
  operate(id: string): Promise<Claim>;
  /** Commits a turn alone. */
  commit(turn: TurnCommit): Promise<TurnVerdict>;
  /** Commits a turn that must be applied. */
  apply(turn: TurnCommit): Promise<TurnVerdict & { readonly verdict: 'ok' }>;
  view(id: string): Promise<InstanceView>;
  frontier(id: string): Promise<Frontier>;
  /** An instance of this state that nobody holds and that has no facts waiting. */
  inState(state: InstanceState): Promise<string>;
  /** An instance that waits for a worker, with its pending task. */
  waitingForWorker(
    overrides?: Partial<NewInstance>,
    given?: Partial<NewTask>,
  ): Promise<{ readonly id: string; readonly taskId: string }>;
  /** As `waitingForWorker`, and a worker has taken the task. */
  claimedTask(given?: Partial<NewTask>): Promise<{ readonly id: string; readonly task: WorkerTask }>;
}

export function dueRequest(overrides: Partial<ClaimDueRequest> = {}): ClaimDueRequest {
  return {
    leaseToken: nextId(),
    leaseOwner: 'process-a',
    leaseMs: LEASE_MS,
    limit: 100,
    perTenantLimit: 0,
    ...overrides,
  };
}

export function oneRequest(instanceId: string, overrides: Partial<ClaimOneRequest> = {}): ClaimOneRequest {
  return {
    tenantId: TENANT,
    instanceId,
    leaseToken: nextId(),
    leaseOwner: 'process-a',
    leaseMs: LEASE_MS,
    mode: 'hint',
    ...overrides,
  };
}

export function pollRequest(overrides: Partial<PollRequest> = {}): PollRequest {
  return {
    tenantId: TENANT,
    handlerName: 'parcel_lookup',
    workerId: 'w-lisbon-2',
    version: null,
    limit: 10,
    ...overrides,
  };
}

/** A payload that a rule refuses: an error, but none that says the database could not be asked. */
export async function expectRejected(answer: Promise<unknown>): Promise<void> {
  const error = await answer.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(StoreUnavailable);
}

/**
 * A store for every test of the surrounding `describe`, empty at the test's start. After each test DESIGN promise 2 is
 * checked for every instance in it.
 */
export function useWorld(makeStore: MakeStore): World {
  let current: StoreUnderTest | undefined;
  const underTest = (): StoreUnderTest => {
    if (current === undefined) throw new Error('There is a store only while a test runs.');
    return current;
  };
  beforeEach(async () => {
    if (current?.reset === undefined) {
      await current?.close();
      current = await makeStore();
    } else await current.reset();
  });
  afterEach(async () => {
    await expectPromisesKept(underTest().store);
  });
  afterAll(async () => {
    await current?.close();
  });
  return createWorld(underTest);
}

async function expectPromisesKept(store: Store): Promise<void> {
  const all = await store.listInstances({
    tenantId: null,
    namespace: null,
    sequenceId: null,
    states: [],
    metadata: [],
    limit: 1000,
    offset: 0,
  });
  for (const { id } of all) {
    const frontier = await store.getFrontier(null, id);
    expect(frontier).not.toBeNull();
    if (frontier !== null) expect(checkPromises(frontier)).toEqual([]);
  }
}

function createWorld(underTest: () => StoreUnderTest): World {
  const store = (): Store => underTest().store;
  const world: World = {
    get store() {
      return store();
    },
    get underTest() {
      return underTest();
    },
    advance: (ms) => underTest().advanceClock(ms),
    now: async () => (await store().ping()).now,
    async start(overrides) {
      const instance = newInstance(overrides);
      const answer = await store().start({ instances: [instance], onKnownKey: 'first' });
      expect(answer.status).toBe('ok');
      return instance.id;
    },
    async claim(id, overrides) {
      const result = await store().claimOne(oneRequest(id, overrides));
      if (result.status !== 'claimed') throw new Error(`The claim was answered with ${result.status}.`);
      return result.claim;
    },
    operate: (id) => world.claim(id, { mode: 'operator' }),
    async commit(turn) {
      const { verdicts } = await store().commit([turn]);
      const [verdict] = verdicts;
      if (verdict === undefined) throw new Error('The commit was not answered.');
      return verdict;
    },
    async apply(turn) {
      const verdict = await world.commit(turn);
      if (verdict.verdict !== 'ok') throw new Error(`The commit was answered with ${verdict.verdict}.`);
      return { ...verdict, verdict: 'ok' };
    },
    async view(id) {
      const view = await store().getInstance(null, id);
      if (view === null) throw new Error(`There is no instance ${id}.`);
      return view;
    },
    async frontier(id) {
      const frontier = await store().getFrontier(null, id);
      if (frontier === null) throw new Error(`There is no instance ${id}.`);
      return frontier;
    },
    inState: (state) => inState(world, state),
    waitingForWorker: (overrides, given) => waitingForWorker(world, overrides, given),
    async claimedTask(given) {
      const { id } = await world.waitingForWorker({}, given);
      const [claimed] = await store().pollTasks(pollRequest());
      if (claimed === undefined) throw new Error('The task was not given out.');
      return { id, task: claimed };
    },
  };
  return world;
}

async function inState(world: World, state: InstanceState): Promise<string> {
  const id = await world.start();
  if (state === 'scheduled') return id;
  const claim = await world.claim(id);
  const inboxDone = allDone(claim);
  if (state === 'waiting') {
    const asking = frame({ leaf: waitingLeaf('input') });
    const settle = settleAs('waiting', { openWaits: 1 });
    await world.apply(
      turnOf(claim, { inboxDone, frames: [write(asking)], audit: [auditEntry('running', state)], settle }),
    );
    return id;
  }
  // Running without a lease is a parked sleep.
  const dueAt = state === 'running' ? (await world.now()) + 600_000 : null;
  const audit = state === 'running' ? [] : [auditEntry('running', state)];
  await world.apply(turnOf(claim, { inboxDone, audit, settle: settleAs(state, { dueAt }) }));
  return id;
}

async function waitingForWorker(
  world: World,
  overrides: Partial<NewInstance> = {},
  given: Partial<NewTask> = {},
): Promise<{ readonly id: string; readonly taskId: string }> {
  const id = await world.start(overrides);
  const claim = await world.claim(id, { tenantId: overrides.tenantId ?? TENANT });
  const created = task(given);
  await world.apply(
    turnOf(claim, {
      frames: [write(frame({ leaf: waitingLeaf('worker', { taskId: created.id }) }))],
      tasksCreated: [created],
      audit: [auditEntry('running', 'waiting')],
      settle: settleAs('waiting', { openWaits: 1 }),
    }),
  );
  return { id, taskId: created.id };
}
