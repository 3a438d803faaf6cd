import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { isTerminal } from '../../src/core/run/states.ts';
import type { FaultPlan } from './support/fault-store.ts';
import { noFaults } from './support/fault-store.ts';
import { InjectionModel, tellingStore } from './support/injection-model.ts';
import { Dice, dice } from './support/random-document.ts';
import { inject, treeOf } from './support/reshaping.ts';
import { START_AT, TENANT, TestEngine } from './support/test-engine.ts';

const RUNS = Number(process.env['STEPWELL_TEST_INJECTIONS'] ?? 120);
const SEED = Number(process.env['STEPWELL_TEST_SEED'] ?? 20_270_401);
const HOUR_MS = 3_600_000;
/** Each attempt leaves its trace once, also when others come to stand before it. */
const TRACED: JsonObject = { interceptors: { before_step: { handler: 'trace' } } };

interface Injection {
  readonly atMs: number;
  readonly blocks: readonly JsonObject[];
  readonly position: number | null;
}

interface Plan {
  readonly blocks: readonly JsonObject[];
  readonly injections: readonly Injection[];
}

/** Every block calls a handler at least once, so that the ledger knows when it is reached. */
class Writer {
  private readonly roll: Dice;
  private count = 0;

  constructor(roll: Dice) {
    this.roll = roll;
  }

  block(depth = 2): JsonObject {
    this.count += 1;
    const id = `b${this.count}`;
    if (depth === 0 || this.roll.chance(60)) {
      return { type: 'step', id, handler: this.roll.pick(['quick', 'slow', 'slower', 'calm', 'work']) };
    }
    const body = (): readonly JsonObject[] => this.list(depth - 1, 2);
    return this.roll.pick<() => JsonObject>([
      () => ({ type: 'parallel', id, branches: [body(), body()] }),
      () => ({ type: 'loop', id, condition: 'true', max_iterations: 2, body: body() }),
      () => ({ type: 'for_each', id, collection: 'items', item_var: 'item', concurrency: 2, body: body() }),
      () => ({ type: 'cancellation_scope', id, blocks: body() }),
      () => ({ type: 'try_catch', id, try_block: body(), catch_block: body() }),
      () => ({ type: 'saga', id, steps: [{ id: `${id}s`, action: this.block(depth - 1) }] }),
    ])();
  }

  list(depth: number, max: number): readonly JsonObject[] {
    return Array.from({ length: 1 + this.roll.below(max) }, () => this.block(depth));
  }
}

function planOf(roll: Dice): Plan {
  const writer = new Writer(roll);
  const blocks = writer.list(2, 4);
  let length = blocks.length;
  const injections = Array.from({ length: 1 + roll.below(6) }, (): Injection => {
    const injected = writer.list(1, 3);
    const position = roll.chance(25) ? null : roll.below(length + 2);
    length += injected.length;
    return { atMs: roll.below(16) * 150, blocks: injected, position };
  });
  return { blocks, injections: injections.toSorted((left, right) => left.atMs - right.atMs) };
}

interface Playing {
  readonly world: TestEngine;
  readonly model: InjectionModel;
  readonly id: string;
}

async function begin(plan: Plan, faults: (world: () => TestEngine) => FaultPlan): Promise<Playing> {
  const model = new InjectionModel(plan.blocks);
  const clock = { now: START_AT };
  const inner = createMemoryStore({ now: () => clock.now });
  const store = tellingStore(
    inner,
    ({ change }) => {
      if (change.kind === 'inject') model.inject(change.blocks, change.position);
    },
    (blockId) => model.begun(blockId),
  );
  const advance = (ms: number): Promise<void> => {
    clock.now += ms;
    return Promise.resolve();
  };
  const world: TestEngine = new TestEngine({
    scripts: { quick: {}, slow: { takesMs: 300 }, slower: { takesMs: 800 }, calm: { kind: 'pure' } },
    store: { store, advance },
    faults: faults(() => world),
  });
  world.ledger.onCall = ({ blockId }) => model.called(blockId);
  world.boot();
  const id = await world.start(await world.publish(plan.blocks, TRACED), { data: { items: [1, 2, 3] } });
  return { world, model, id };
}

/** Time passes; workers do what they find. */
async function work(world: TestEngine, model: InjectionModel, ms: number): Promise<void> {
  await world.time.pass(ms);
  for (let task = await world.poll('work'); task !== null; task = await world.poll('work')) {
    model.called(task.blockId);
    await world.report(task, { ok: true, output: { did: task.blockId } });
  }
}

async function end({ world, model, id }: Playing, plan: Plan): Promise<void> {
  for (let passed = 0; !isTerminal((await world.view(id)).state); passed += 250) {
    if (passed > HOUR_MS) {
      throw new Error(`stuck: ${JSON.stringify(await world.store.getFrontier(TENANT, id), null, 1)}`);
    }
    await work(world, model, 250);
  }
  const told = JSON.stringify(plan);
  const view = await world.view(id);
  expect([view.state, world.log().filter((line) => line.includes('broke off')), told]).toEqual([
    'completed',
    [],
    told,
  ]);
  expect([model.wrong, model.untouched, told]).toEqual([[], [], told]);
  const tree = await treeOf(world, id);
  expect(Object.keys(tree).filter((blockId) => model.list.includes(blockId))).toEqual(model.list);
}

async function play(plan: Plan): Promise<Playing> {
  const playing = await begin(plan, () => noFaults);
  const { world, model, id } = playing;
  for (const { atMs, blocks, position } of plan.injections) {
    while (world.time.now - START_AT < atMs) await work(world, model, 150);
    if (isTerminal((await world.view(id)).state)) return playing;
    const answer = await inject(world, id, blocks, position);
    if (!answer.ok) throw new Error(answer.error.message);
  }
  await end(playing, plan);
  return playing;
}

describe('random injections (20.4)', () => {
  it('are run as a list with the blocks inserted by position says, whatever is under way [OP-10] [LIST-1]', {
    timeout: 3_600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(dice(), async (seed) => {
        await play(planOf(new Dice(seed)));
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    );
  });
});

const step = (id: string, handler: string, members: { readonly [name: string]: Json } = {}): JsonObject => ({
  type: 'step',
  id,
  handler,
  ...members,
});

/** Blocks come before, between and behind what has run, while a step and while two branches are at work. */
const eventful: Plan = {
  blocks: [
    step('a', 'slow'),
    {
      type: 'parallel',
      id: 'p',
      branches: [[step('p1', 'slow'), step('p2', 'slow')], [step('q1', 'slower')]],
    },
    step('z', 'quick'),
  ],
  injections: [
    { atMs: 150, blocks: [step('x1', 'slow')], position: 0 },
    { atMs: 750, blocks: [step('x2', 'quick'), step('x3', 'slow')], position: 1 },
    { atMs: 1_200, blocks: [step('x4', 'quick')], position: null },
  ],
};

describe('injections and lost processes (RULINGS A8)', () => {
  it('a process that dies before or after any commit loses no injected block and repeats none that ended [OP-9]', {
    timeout: 600_000,
  }, async () => {
    const { world: calm } = await play(eventful);
    const commits = calm.countCalls('commit');
    expect(commits).toBeGreaterThan(6);
    for (let nth = 0; nth < commits; nth += 1) {
      for (const kind of ['crash-before', 'crash-after'] as const) await playWithCrash(eventful, nth, kind);
    }
  });
});

async function playWithCrash(plan: Plan, nth: number, kind: 'crash-before' | 'crash-after'): Promise<void> {
  let seen = -1;
  const playing = await begin(plan, (world) => ({
    decide: ({ operation }) => {
      if (operation !== 'commit') return null;
      seen += 1;
      return seen === nth ? { kind } : null;
    },
    onCrash: () => world().time.at(world().time.now, () => void world().boot()),
  }));
  const { world, model, id } = playing;
  for (const { atMs, blocks, position } of plan.injections) {
    while (world.time.now - START_AT < atMs) await work(world, model, 50);
    const serialised = blocks.map((block) => ({ params: null, delay: null, retry: null, ...block }));
    await acceptSurely(world, id, serialised, position, model);
  }
  await end(playing, plan);
  const rows = (await world.store.listOutputs(TENANT, id, { node: false, retry: false })) ?? [];
  const results = rows.map(({ blockId }) => blockId);
  expect(new Set(results).size, `${kind} at commit ${nth}`).toBe(results.length);
}

/** A client whose request survives the process that it was sent to: it is accepted in the store. */
async function acceptSurely(
  world: TestEngine,
  instanceId: string,
  blocks: readonly JsonObject[],
  position: number | null,
  model: InjectionModel,
): Promise<void> {
  const expected = (await world.view(instanceId)).shape?.accepted ?? 0;
  const { list } = model;
  const isAtEnd = position === null || position >= list.length;
  const change = {
    kind: 'inject' as const,
    blocks,
    position: isAtEnd ? null : position,
    before: isAtEnd ? null : (list[position] ?? null),
    after: isAtEnd ? null : (list[position - 1] ?? null),
  };
  const answer = await world.store.acceptChange({
    tenantId: TENANT,
    instanceId,
    id: world.nextId(),
    expected,
    change,
  });
  expect(answer.status).toBe('accepted');
}
