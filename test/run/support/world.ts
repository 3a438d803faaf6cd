import { validateAgainst } from '../../../src/core/definition/json-schema.ts';
import { createMemoryStore } from '../../../src/adapters/memory/store.ts';
import { parseSequence } from '../../../src/core/definition/parse-sequence.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { Env, HandlerKind } from '../../../src/core/run/draft.ts';
import { type Plan, compilePlan } from '../../../src/core/run/plan.ts';
import type { Store } from '../../../src/ports/store/store.ts';
import type { TurnCommit } from '../../../src/ports/store/turn.ts';
import { TENANT, newInstance, sequence } from '../../support/turn-builder.ts';
import type { List } from './blocks.ts';
import type { CallEnd } from './calls.ts';
import { happen, reactToGates, reactToTasks, reactToWaits } from './outside.ts';
import type { Answer, Call, Crashes, Scenario } from './script.ts';

/** Instant at which every scenario starts, unless it says otherwise: a Monday. */
const START_AT = Date.parse('2027-02-01T09:00:00.000Z');

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
  /** Commits that are stored. */
  readonly commits: TurnCommit[];
  /** Interceptors that were really called. */
  readonly invoked: string[];
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

function documentOf(
  blocks: List,
  extra: {
    readonly id: string;
    readonly name: string;
    readonly inputSchema?: JsonObject;
    readonly members?: JsonObject;
  },
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
    ...extra.members,
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
  const limit = { tenantId: TENANT, resourceKey: 'mail', maxCount: 2, windowMs: 50 };
  await store.putRateLimit(limit);
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
    nextFireAt: scenario.firstRunMs === undefined ? null : startAt + scenario.firstRunMs,
    dryRun: scenario.dryRun ?? false,
    dryRunAutoApprove: scenario.dryRunAutoApprove ?? false,
    dryRunRealTime: scenario.dryRunRealTime ?? false,
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
    invoked: [],
    commits: [],
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
      reactToWaits(world, turn);
    },
  };
  await publish(world, 'main', { blocks: scenario.blocks, members: scenario.members ?? {} }, root.sequenceId);
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
  source: { readonly blocks: List; readonly inputSchema?: JsonObject; readonly members?: JsonObject },
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
    validateAgainst,
    kindOf: (handler) => kindOf(handler, world.now - world.startAt),
    defaultsOf: () => ({}),
    // Which failure is the fifth in a row depends on the order of what ends at one instant, which says nothing here.
    breakers: { threshold: 1_000_000, cooldownMs: 1 },
    webhooks: { urls: ['https://hooks.example.com/a'], cancelled: true },
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
