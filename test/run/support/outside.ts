import { type Json, isJsonObject } from '../../../src/core/json.ts';
import { innerIteration } from '../../../src/core/run/plan.ts';
import type { WorkerTask } from '../../../src/ports/store/accept.ts';
import type { TurnCommit } from '../../../src/ports/store/turn.ts';
import { TENANT } from '../../support/turn-builder.ts';
import type { Answer, Call, Event } from './script.ts';
import type { World } from './world.ts';

/** Lets happen what a scenario has planned from outside. */
export async function happen(world: World, event: Exclude<Event, { operate: unknown }>): Promise<void> {
  if ('signal' in event) await send(world, event.to ?? world.rootId, event.signal, event.payload ?? null);
  else if ('patch' in event) {
    await world.store.patchContext({
      tenantId: TENANT,
      instanceId: world.rootId,
      factId: world.newId(),
      sections: event.patch,
      mode: event.mode ?? 'replace',
      maxContextBytes: 0,
    });
  } else if ('cancelChildren' in event) {
    const children = (await world.store.listChildren(null, world.rootId)) ?? [];
    for (const { id } of children) await send(world, id, 'cancel', null);
  } else if ('claim' in event) {
    const task = await openTask(world, event.claim);
    if (task !== undefined) await claim(world, task);
  } else await report(world, event.report, event.answer);
}

async function send(world: World, instanceId: string, signalType: string, payload: Json): Promise<void> {
  await world.store.signal({ tenantId: TENANT, instanceId, signalId: world.newId(), signalType, payload });
}

/** A worker takes the open task of a block and reports; nothing happens when there is no such task any more. */
async function report(world: World, blockId: string, answer: Answer, taskId?: string): Promise<void> {
  const task = await openTask(world, blockId, taskId);
  if (task === undefined) return;
  const claimed = task.state === 'pending' ? await claim(world, task) : task;
  // Tasks of a paused instance are not given out: the worker asks again a little later.
  if (claimed?.state !== 'claimed') {
    world.plan(world.now + 1000, () => report(world, blockId, answer, task.id));
    return;
  }
  await world.store.reportTask({
    tenantId: TENANT,
    taskId: task.id,
    workerId: WORKER,
    claimEpoch: claimed.claimEpoch,
    factId: world.newId(),
    outcome: answer.ok ? { ok: true, output: answer.output } : { ok: false, ...answer.failure },
    logs: [],
  });
}

const WORKER = 'w-1';

/** The oldest open task of a block, or the given one as long as it is open. */
async function openTask(world: World, blockId: string, taskId?: string): Promise<WorkerTask | undefined> {
  const all = { handlerName: null, workerId: null, queueName: null, limit: 1000, offset: 0 };
  const open = await world.store.listTasks({ tenantId: TENANT, states: ['pending', 'claimed'], ...all });
  return open.find((known) => known.blockId === blockId && (taskId ?? known.id) === known.id);
}

async function claim(world: World, task: WorkerTask): Promise<WorkerTask | null> {
  const { handlerName } = task;
  const request = { tenantId: TENANT, handlerName, workerId: WORKER, version: null, limit: 1000 };
  await world.store.pollTasks(request);
  return world.store.getTask(TENANT, task.id);
}

/** Workers take the tasks that a commit made, and report as the script says; without a script they are silent. */
export function reactToTasks(world: World, turn: TurnCommit): void {
  for (const created of turn.tasksCreated) {
    const call: Call = {
      instanceId: turn.instanceId,
      atMs: world.now - world.startAt,
      blockId: created.blockId,
      attempt: created.attempt,
      iteration: created.iteration,
      runNo: turn.runNo,
      params: created.params,
      context: created.context as unknown as Call['context'],
      idempotencyKey: created.idempotencyKey,
      redelivery: false,
    };
    world.calls.push(call);
    const scripted = world.scenario.on !== undefined && Object.hasOwn(world.scenario.on, created.blockId);
    const answer = scripted ? world.answerOf(call) : 'silent';
    if (answer === 'silent') continue;
    world.plan(world.now + answer.takesMs, () => report(world, created.blockId, answer, created.id));
  }
}

/** Events come so long after somebody waits for them; the wait itself names the producer's event. */
export function reactToWaits(world: World, turn: TurnCommit): void {
  for (const { id, blockId, names, correlationKey } of turn.outside?.waits ?? []) {
    const afterMs = world.scenario.arrivals?.[blockId];
    if (afterMs === undefined) continue;
    const event = { tenantId: TENANT, producerEventId: id, correlationKey, payload: null };
    world.plan(world.now + afterMs, async () => {
      for (const eventName of names)
        await world.store.acceptEvent({ ...event, id: world.newId(), eventName });
    });
  }
}

/** People answer so long after a gate opened. A gate is known by the key under which its answer is kept. */
export function reactToGates(world: World, turn: TurnCommit): void {
  for (const { frame } of turn.frames) {
    const gate = frame.leaf?.gate ?? null;
    if (gate === null || gate.openedAt !== world.now) continue;
    const answer = world.scenario.answers?.[gate.storeAs];
    if (answer === undefined) continue;
    const type = `custom:human_input:${gate.storeAs}`;
    // Several items of a for_each may stand at the same gate: each answer names its own.
    const iteration = innerIteration(frame);
    const payload = isJsonObject(answer.payload) ? { ...answer.payload, iteration } : answer.payload;
    world.plan(gate.openedAt + answer.afterMs, () => send(world, turn.instanceId, type, payload));
  }
}
