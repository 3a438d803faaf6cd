import { createMemoryStore } from '../../../src/adapters/memory/store.ts';
import { parseSequence } from '../../../src/core/definition/parse-sequence.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { Env, HandlerKind } from '../../../src/core/run/draft.ts';
import { type Plan, compilePlan } from '../../../src/core/run/plan.ts';
import type { WorkerTask } from '../../../src/ports/store/accept.ts';
import type { Store } from '../../../src/ports/store/store.ts';
import type { TurnCommit } from '../../../src/ports/store/turn.ts';
import { TENANT, newInstance, sequence } from '../../support/turn-builder.ts';
import type { List } from './blocks.ts';
import type { CallEnd } from './calls.ts';
import type { Answer, Call, Crashes, Event, Scenario } from './script.ts';

/** Instant at which every scenario starts, unless it says otherwise: a Monday. */
export const START_AT = Date.parse('2027-02-01T09:00:00.000Z');

/** Leases are not renewed here: they outlast every scenario. */
export const LEASE_MS = 1_000_000_000_000;

const NAMESPACE = 'fulfilment';

interface Planned {
  readonly at: number;
  readonly no: number;
  readonly run: () => Promise<void>;
}

/** The virtual world around the core: store, clock, handlers, workers, people, and what happens when. */
export interface World {
  readonly scenario: Scenario;
  readonly crashes: Crashes;
  readonly store: Store;
  readonly startAt: number;
  now: number;
  readonly rootId: string;
  readonly calls: Call[];
  /** Instants at which calls that began once end, by what they are calls of. */
  readonly ends: Map<string, CallEnd>;
  /** Of one leaf, because of crashes. */
  mostRedeliveries: number;
  /** What was in commits that were lost with a crash. */
  readonly lost: Set<string>;
  readonly escalations: { readonly handler: string; readonly params: Json }[];
  readonly envFor: () => Env;
  planOf(sequenceId: string): Promise<Plan>;
  answerOf(call: Call): Answer | 'silent';
  plan(at: number, run: () => Promise<void>): void;
  nextEventAt(): number | null;
  /** Moves the clock and lets happen what falls due on the way. */
  moveTo(at: number): Promise<void>;
  /** Lets workers and people see what a commit asks of them. */
  react(turn: TurnCommit): void;
  newId(): string;
}

/** Ids look like UUIDs of version 7 and ascend. */
function idSource(now: () => number): () => string {
  let count = 0;
  return () => {
    count += 1;
    const time = now().toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-9000-${count.toString(16).padStart(12, '0')}`;
  };
}

export function documentOf(
  blocks: List,
  extra: { readonly id: string; readonly name: string; readonly inputSchema?: JsonObject },
): JsonObject {
  return {
    id: extra.id,
    tenant_id: TENANT,
    namespace: NAMESPACE,
    name: extra.name,
    version: 1,
    blocks,
    created_at: '2027-01-01T00:00:00.000Z',
    ...(extra.inputSchema === undefined ? {} : { input_schema: extra.inputSchema }),
  };
}

/** The plan of a document that must be valid. */
export function planOfBlocks(blocks: List, id = '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44'): Plan {
  return compile(documentOf(blocks, { id, name: 'main' }));
}

function compile(document: Json): Plan {
  const parsed = parseSequence(document);
  if (!parsed.ok) throw new Error(`not a valid document: ${JSON.stringify(parsed.error)}`);
  return compilePlan(parsed.value.document);
}

export async function createWorld(scenario: Scenario, crashes: Crashes): Promise<World> {
  const startAt = scenario.startsAt ?? START_AT;
  const clock = { now: startAt };
  const store = createMemoryStore({ now: () => clock.now });
  const newId = idSource(() => clock.now);
  const plans = new Map<string, Plan>();
  const events: Planned[] = [];
  let planned = 0;
  const root = newInstance({
    id: scenario.instanceId ?? '0b9c6f1e-5a72-4d38-9e11-7c20d4a85f63',
    data: scenario.data ?? {},
    config: scenario.config ?? {},
    audit: scenario.audit ?? [],
    timezone: scenario.timezone ?? 'UTC',
    dryRun: scenario.dryRun ?? false,
    dryRunAutoApprove: scenario.dryRunAutoApprove ?? false,
  });
  const world: World = {
    scenario,
    crashes,
    store,
    startAt,
    get now() {
      return clock.now;
    },
    set now(at) {
      clock.now = at;
    },
    rootId: root.id,
    calls: [],
    ends: new Map(),
    mostRedeliveries: 0,
    lost: new Set(),
    escalations: [],
    newId,
    envFor: () => envOf(world),
    planOf: async (sequenceId) => {
      const known = plans.get(sequenceId);
      if (known !== undefined) return known;
      const record = await store.getSequence(TENANT, sequenceId);
      const plan = compile(record?.definition ?? null);
      plans.set(sequenceId, plan);
      return plan;
    },
    answerOf: (call) => {
      const reaction = scenario.on?.[call.blockId] ?? ok({ from: call.blockId });
      return typeof reaction === 'function' ? reaction(call) : reaction;
    },
    plan: (at, run) => {
      planned += 1;
      events.push({ at, no: planned, run });
      events.sort((left, right) => left.at - right.at || left.no - right.no);
    },
    nextEventAt: () => events[0]?.at ?? null,
    moveTo: async (at) => {
      for (let next = events[0]; next !== undefined && next.at <= at; next = events[0]) {
        events.shift();
        clock.now = Math.max(clock.now, next.at);
        await next.run();
      }
      clock.now = Math.max(clock.now, at);
    },
    react: (turn) => {
      reactToTasks(world, turn);
      reactToGates(world, turn);
    },
  };
  await publish(world, 'main', { blocks: scenario.blocks }, root.sequenceId);
  for (const [name, other] of Object.entries(scenario.sequences ?? {})) {
    await publish(world, name, other, newId());
  }
  for (const event of scenario.events ?? []) {
    if (!('operate' in event)) world.plan(startAt + event.at, () => happen(world, event));
  }
  await store.start({ instances: [root], onKnownKey: 'first' });
  return world;
}

function ok(output: Json): Answer {
  return { ok: true, output, writes: [], takesMs: 0 };
}

async function publish(
  world: World,
  name: string,
  source: { readonly blocks: List; readonly inputSchema?: JsonObject },
  id: string,
): Promise<void> {
  const definition = documentOf(source.blocks, { ...source, id, name });
  compile(definition);
  await world.store.insertSequence(sequence({ id, name, definition }));
}

function envOf(world: World): Env {
  const { scenario } = world;
  return {
    now: world.now,
    newId: () => world.newId(),
    uuid: () => world.newId(),
    random: scenario.random ?? ((): number => 0.5),
    maxContextBytes: scenario.maxContextBytes ?? 262_144,
    maxOutputBytes: scenario.maxOutputBytes ?? 8_388_608,
    kindOf: (handler) => kindOf(handler, world.now - world.startAt),
    defaultsOf: () => ({}),
  };
}

/** `away:5000:worker:x` is in another build until 5000 ms after the start, and `worker:x` from then on. */
function kindOf(handler: string, elapsedMs: number): HandlerKind {
  const [, untilMs, then] = /^away:(\d+):(.+)$/.exec(handler) ?? [];
  if (then !== undefined) return elapsedMs < Number(untilMs) ? 'elsewhere' : kindOf(then, elapsedMs);
  if (handler.startsWith('worker:')) return 'worker';
  if (handler.startsWith('pure:')) return 'pure';
  return handler.startsWith('gone:') ? 'unavailable' : 'effect';
}

async function happen(world: World, event: Exclude<Event, { operate: unknown }>): Promise<void> {
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
  const task = await openTask(world, blockId);
  if (task === undefined || (taskId ?? task.id) !== task.id) return;
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

async function openTask(world: World, blockId: string): Promise<WorkerTask | undefined> {
  const all = { handlerName: null, workerId: null, queueName: null, limit: 1000, offset: 0 };
  const open = await world.store.listTasks({ tenantId: TENANT, states: ['pending', 'claimed'], ...all });
  return open.find((known) => known.blockId === blockId);
}

async function claim(world: World, task: WorkerTask): Promise<WorkerTask | null> {
  const { handlerName } = task;
  const request = { tenantId: TENANT, handlerName, workerId: WORKER, version: null, limit: 1000 };
  await world.store.pollTasks(request);
  return world.store.getTask(TENANT, task.id);
}

function reactToTasks(world: World, turn: TurnCommit): void {
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

/** People answer so long after a gate opened. A gate is known by the key under which its answer is kept. */
function reactToGates(world: World, turn: TurnCommit): void {
  for (const { frame } of turn.frames) {
    const gate = frame.leaf?.gate ?? null;
    if (gate === null || gate.openedAt !== world.now) continue;
    const answer = world.scenario.answers?.[gate.storeAs];
    if (answer === undefined) continue;
    const type = `custom:human_input:${gate.storeAs}`;
    world.plan(gate.openedAt + answer.afterMs, () => send(world, turn.instanceId, type, answer.payload));
  }
}
