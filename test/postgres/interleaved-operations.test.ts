import { afterEach, describe, expect, it } from 'vitest';
import { createLog, systemClock, systemEntropy } from '../../src/adapters/system.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { type Engine, createEngine } from '../../src/engine/engine.ts';
import { noopHandler } from '../../src/engine/handlers/noop.ts';
import { createHandlerRegistry } from '../../src/engine/handlers/registry.ts';
import type { ResumeAnswer } from '../../src/engine/resume-order.ts';
import type { StepHandler } from '../../src/ports/step-handler.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { standardSettings } from '../engine/support/engine-process.ts';
import {
  type RealEngine,
  createRealEngine,
  publishBlocks,
  REAL_TENANT,
  startDue,
} from '../engine/support/real-engine.ts';
import { nextId } from '../support/turn-builder.ts';
import { signalOf } from './acts.ts';
import { type Session, useSessions } from './sessions.ts';
import { stopBefore } from './stop-before.ts';
import { MIGRATED } from './store-database.ts';

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});

const failing: StepHandler = {
  name: 'failing',
  kind: 'effect',
  run: () => ({ ok: false, failure: { message: 'no', retryable: false } }),
};

/** An engine whose statements go through one session; nothing runs in it by itself. */
function engineOn(store: Store, name: string): Engine {
  const registry = createHandlerRegistry([noopHandler], [failing]);
  if (!registry.ok) throw new Error(registry.error.join('; '));
  const log = createLog({ level: 'silent', format: 'text' });
  const hints = { send: () => undefined };
  const parts = { store, handlers: registry.value, clock: systemClock, entropy: systemEntropy, log, hints };
  return createEngine(parts, { ...standardSettings, leaseOwner: name });
}

/** Looks at the run until it ended or waits for something: on a busy machine one look can come to nothing. */
async function untilCalm(engine: RealEngine, id: string): Promise<void> {
  for (;;) {
    await engine.runner.nudge({ tenantId: REAL_TENANT, instanceId: id }, 20_000);
    await engine.idle();
    const { state, openWaits } = (await engine.deps.store.getInstance(null, id)) ?? {};
    if (openWaits !== 0 || (state !== 'scheduled' && state !== 'running')) return;
  }
}

/** Operations on one run at the same time: exactly one of them takes effect, the other is told so (RULINGS A1, A10, A11). */
describe('operations on a run against each other', () => {
  const sessions = useSessions(MIGRATED);
  const engines: RealEngine[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
  });

  async function runOf(blocks: Json): Promise<{ readonly engine: RealEngine; readonly id: string }> {
    const engine = createRealEngine(sessions.url, 'worker', [failing], {
      // All runs of this file fail at the same step; a breaker would hold the sixth up for a minute.
      breakers: { threshold: 1000, cooldownMs: 1000 },
    });
    engines.push(engine);
    const [id = ''] = await startDue(engine, await publishBlocks(engine, blocks), 1);
    await untilCalm(engine, id);
    return { engine, id };
  }

  const failedRun = () => runOf([step('a'), step('b', { handler: 'failing' })]);

  /** A worker works on `w`, a timer runs beside it, and the run is paused. */
  async function pausedRun(): Promise<{
    readonly engine: RealEngine;
    readonly id: string;
    readonly taskId: string;
  }> {
    const later = step('d', { delay: { duration: 3_600_000 } });
    const task = step('w', { handler: 'somebody' });
    const { engine, id } = await runOf([
      step('a'),
      { type: 'parallel', id: 'p', branches: [[later], [step('y'), task]] },
    ]);
    const poll = {
      tenantId: REAL_TENANT,
      handlerName: 'somebody',
      workerId: 'w-1',
      version: null,
      limit: 10,
    };
    const tasks = await engine.deps.store.pollTasks(poll);
    const pause = { kind: 'set_state', state: 'paused', nextFireAt: null } as const;
    await engine.runner.operate({ tenantId: REAL_TENANT, instanceId: id }, pause);
    expect((await engine.deps.store.getInstance(null, id))?.state).toBe('paused');
    const taskId = tasks.find(({ instanceId }) => instanceId === id)?.id ?? '';
    return { engine, id, taskId };
  }

  function resume(store: Store, id: string, blockId: string, name: string): Promise<ResumeAnswer> {
    const order = { blockId, iteration: null, data: {}, edit: null, signals: [] };
    return engineOn(store, name).runner.resume({ tenantId: REAL_TENANT, instanceId: id }, order);
  }

  const report = (session: Session, taskId: string) =>
    session.store.reportTask({
      tenantId: REAL_TENANT,
      taskId,
      workerId: 'w-1',
      claimEpoch: 1,
      factId: nextId(),
      outcome: { ok: true, output: { done: true } },
      logs: [],
    });

  async function runNumber(engine: RealEngine, id: string): Promise<number> {
    return (await engine.deps.store.getInstance(null, id))?.runNo ?? 0;
  }

  it('of two resume-from at once one is told that the run is held [OP-5]', async () => {
    const { engine, id } = await failedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    const stopped = stopBefore(one.store, 'commit');
    const first = resume(stopped.store, id, 'b', 'one');
    await stopped.reached;
    expect(await resume(other.store, id, 'a', 'other')).toEqual({ status: 'busy' });
    stopped.go();
    expect(await first).toMatchObject({ status: 'resumed' });
    expect(await runNumber(engine, id)).toBe(2);
  });

  it('a resume-from that waited for another one is told the new state', async () => {
    const { engine, id } = await failedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    await one.begin();
    expect(await resume(one.store, id, 'b', 'one')).toMatchObject({ status: 'resumed' });
    const second = resume(other.store, id, 'a', 'other');
    await other.untilBlocked();
    await one.commit();
    expect(await second).toEqual({ status: 'illegal', from: 'scheduled' });
    expect(await runNumber(engine, id)).toBe(2);
  });

  it('a resume-from that waited for one that came to nothing is carried out', async () => {
    const { engine, id } = await failedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    await one.begin();
    expect(await resume(one.store, id, 'b', 'one')).toMatchObject({ status: 'resumed' });
    const second = resume(other.store, id, 'a', 'other');
    await other.untilBlocked();
    await one.rollback();
    expect(await second).toMatchObject({ status: 'resumed', superseded: 2 });
    expect(await runNumber(engine, id)).toBe(2);
  });

  const retry = (store: Store, id: string) =>
    engineOn(store, 'retry').runner.operate({ tenantId: REAL_TENANT, instanceId: id }, { kind: 'retry' });

  it('a retry that waited for a resume-from is told the new state [OP-1]', async () => {
    const { engine, id } = await failedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    await one.begin();
    expect(await resume(one.store, id, 'b', 'one')).toMatchObject({ status: 'resumed' });
    const second = retry(other.store, id);
    await other.untilBlocked();
    await one.commit();
    expect(await second).toEqual({ status: 'illegal', from: 'scheduled' });
    expect(await runNumber(engine, id)).toBe(2);
  });

  it('a resume-from that waited for a retry is told the new state [OP-1]', async () => {
    const { engine, id } = await failedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    await one.begin();
    expect(await retry(one.store, id)).toMatchObject({ status: 'done' });
    const second = resume(other.store, id, 'b', 'other');
    await other.untilBlocked();
    await one.commit();
    expect(await second).toEqual({ status: 'illegal', from: 'scheduled' });
    expect(await runNumber(engine, id)).toBe(2);
  });

  it('a signal that comes while a resume-from is under way is a fact of the new run, exactly once [SIG-3]', async () => {
    const { engine, id } = await pausedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    const stopped = stopBefore(one.store, 'commit');
    const resumed = resume(stopped.store, id, 'a', 'one');
    await stopped.reached;
    const update = { ...signalOf(id, 'update_context'), payload: { data: { n: 1 } } };
    expect(await other.store.signal(update)).toMatchObject({ status: 'accepted' });
    stopped.go();
    expect(await resumed).toMatchObject({ status: 'resumed' });
    const instance = await engine.deps.store.getInstance(null, id);
    expect([instance?.state, instance?.runNo, instance?.data]).toEqual(['scheduled', 2, { n: 1 }]);
    expect((await engine.deps.store.getFrontier(null, id))?.inbox).toEqual([]);
  });

  it('a cancel that comes while a resume-from is under way is carried out, and the resume-from is not [SIG-3]', async () => {
    const { engine, id } = await pausedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    const stopped = stopBefore(one.store, 'commit');
    const resumed = resume(stopped.store, id, 'a', 'one');
    await stopped.reached;
    expect(await other.store.signal(signalOf(id, 'cancel'))).toMatchObject({ status: 'accepted' });
    stopped.go();
    expect(await resumed).toEqual({ status: 'busy' });
    await untilCalm(engine, id);
    expect(await engine.deps.store.getInstance(null, id)).toMatchObject({ state: 'cancelled', runNo: 1 });
  });

  it('a signal that waited for a resume-from is accepted by the run that goes on [SIG-2]', async () => {
    const { id } = await failedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    expect(await other.store.signal(signalOf(id))).toMatchObject({ status: 'terminal' });
    await one.begin();
    expect(await resume(one.store, id, 'a', 'one')).toMatchObject({ status: 'resumed' });
    const signal = other.store.signal(signalOf(id));
    await other.untilBlocked();
    await one.commit();
    expect(await signal).toMatchObject({ status: 'accepted' });
  });

  it('a report that waited for a resume-from over its step is stale [WRK-6]', async () => {
    const { engine, id, taskId } = await pausedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    await one.begin();
    expect(await resume(one.store, id, 'y', 'one')).toMatchObject({ status: 'resumed' });
    const late = report(other, taskId);
    await other.untilBlocked();
    await one.commit();
    expect(await late).toEqual({ status: 'stale' });
    expect(await runNumber(engine, id)).toBe(2);
  });

  it('a report that came first is recorded, and then superseded with its step (RULINGS A12, B1)', async () => {
    const { engine, id, taskId } = await pausedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    await other.begin();
    expect(await report(other, taskId)).toMatchObject({ status: 'accepted' });
    const resumed = resume(one.store, id, 'y', 'one');
    await one.untilBlocked();
    await other.commit();
    expect(await resumed).toMatchObject({ status: 'resumed' });
    const history = await engine.deps.store.getHistory(null, id);
    const ofTask = (history?.rows ?? []).filter((row) => row.blockId === 'w' && row.kind === 'result');
    expect(ofTask.map(({ runNo, supersededBy }) => [runNo, supersededBy])).toEqual([[1, 2]]);
  });

  it('a fork of a run that moves takes rows of one instant, and its state only as it was then [OP-8]', async () => {
    const { engine, id } = await pausedRun();
    const [one, other] = [await sessions.open(), await sessions.open()];
    const history = await one.store.getHistory(null, id);
    const claimed = await other.store.claimOne({
      ...{ tenantId: REAL_TENANT, instanceId: id, leaseToken: nextId(), leaseOwner: 'p', leaseMs: 60_000 },
      mode: 'operator',
    });
    expect(claimed.status).toBe('claimed');
    const source = { tenantId: REAL_TENANT, instanceId: id };
    const rows = (history?.rows ?? []).map((row) => ({ ...row, copyId: nextId() }));
    const instance = { ...newFork(engine), sequenceId: history?.instance.sequenceId ?? '' };
    const none = { rows: [], frames: [], signals: [], journal: [] };
    const request = { source, instance, runNo: 2, copied: rows, ...none };
    await other.begin();
    await other.rows('UPDATE stepwell.task_instances SET rev = rev + 1 WHERE id = $1', [id]);
    expect(await one.store.fork({ ...request, stateAtRev: null })).toBe('created');
    const forked = one.store.fork({
      ...request,
      instance: { ...instance, id: nextId() },
      copied: [],
      stateAtRev: history?.instance.rev ?? 0,
    });
    await one.untilBlocked();
    await other.commit();
    expect(await forked).toBe('moved');
  });
});

function newFork(engine: RealEngine) {
  const { ids } = engine.deps;
  return {
    ...{ id: ids.newId(), runId: ids.newId(), tenantId: REAL_TENANT, namespace: 'fulfilment', priority: 1 },
    ...{
      timezone: 'UTC',
      metadata: {},
      data: {},
      config: {},
      audit: [],
      nextFireAt: null,
      concurrencyKey: null,
    },
    ...{ maxConcurrency: null, idempotencyKey: null, sessionId: null, budget: null, dryRun: true },
    ...{ dryRunAutoApprove: false, originalInput: null },
  };
}
