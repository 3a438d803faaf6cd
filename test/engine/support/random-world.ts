import { expect } from 'vitest';
import { isTerminal } from '../../../src/core/run/states.ts';
import { LEASE_MS, SWEEP_MS } from './engine-process.ts';
import type { Fault, FaultKind, FaultPlan } from './fault-store.ts';
import { FunctionWorld } from './function-world.ts';
import { hintFates, queuedHints } from './hint-faults.ts';
import {
  type RunEnd,
  type ScenarioRun,
  describeRun,
  endOf,
  hasEnded,
  serve,
  startSurely,
} from './run-scenario.ts';
import { type Scenario, scenarioScripts, scenarios } from './scenarios.ts';
import { RECOVERY_MS, checkEffects, faultless } from './single-fault.ts';
import { TENANT, TestEngine, type TestEngineOptions } from './test-engine.ts';

/** Numbers from a seed, always the same. */
export interface Draw {
  /** A whole number below the bound. */
  below(bound: number): number;
  chance(share: number): boolean;
  oneOf<T>(values: readonly T[]): T;
}

export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const draw: Draw = {
    below: (bound) => Math.floor(next() * bound),
    chance: (share) => next() < share,
    oneOf: (values) => {
      const value = values[draw.below(values.length)];
      if (value === undefined) throw new Error('nothing to choose from');
      return value;
    },
  };
  return draw;
}

const KINDS: readonly FaultKind[] = [
  'fail-before',
  'fail-unsure',
  'fail-after',
  'crash-before',
  'crash-after',
  'freeze-before',
  'freeze-after',
  'slow-before',
  'slow-after',
];
/**
 * A read of a handler is part of its step: on functions, one that takes as long as the invocation is the step's own
 * timeout ([TO-3]).
 */
const READS_OF_STEPS: ReadonlySet<string> = new Set([
  ...['readState', 'countState', 'eventWait', 'pendingEvents', 'getTrigger', 'findSequence', 'emitRecord'],
  ...['getInstance', 'getFrontier', 'listNodeRows', 'listAudit'],
]);
/** Fewer than the deliveries and claims after which a run is given up. */
const LOST_MAX = 8;
const FAULTY_MS = 600_000;

/** One random world: which faults, how often, on how many processes. Many have one or two kinds of fault, some none. */
export interface WorldPlan {
  readonly seed: number;
  readonly kinds: readonly FaultKind[];
  readonly share: number;
  readonly host: 'resident' | 'functions';
  readonly processes: number;
  readonly skewed: boolean;
  readonly hints: 'local' | keyof typeof hintFates;
  readonly scenarios: readonly Scenario[];
  readonly settings: NonNullable<TestEngineOptions['settings']>;
  /** People pause and resume, or cancel, now and then. */
  readonly people: 'none' | 'pausing' | 'cancelling';
}

function planFrom(seed: number): { readonly plan: WorldPlan; readonly draw: Draw } {
  const draw = drawFrom(seed);
  const kinds = Array.from({ length: draw.oneOf([0, 1, 1, 1, 2, 2, 3, 9]) }, () => draw.oneOf(KINDS));
  const plan: WorldPlan = {
    seed,
    kinds: [...new Set(kinds)],
    share: draw.oneOf([0.01, 0.03, 0.08, 0.2]),
    host: draw.oneOf(['resident', 'resident', 'functions'] as const),
    processes: 1 + draw.below(4),
    skewed: draw.chance(0.2),
    hints: draw.oneOf(['local', 'local', 'dropped', 'repeated', 'delayed', 'reordered'] as const),
    scenarios: Array.from({ length: 1 + draw.below(4) }, () => draw.oneOf(scenarios)),
    settings: {
      maxRecoveries: 0,
      maxStepsPerTurn: draw.oneOf([0, 0, 1, 3]),
      maxConcurrentSteps: draw.oneOf([128, 128, 1, 2]),
      maxTurns: draw.oneOf([1000, 1000, 2]),
      tickMs: draw.oneOf([null, null, 1000]),
    },
    people: draw.oneOf(['none', 'none', 'none', 'pausing', 'cancelling'] as const),
  };
  return { plan, draw };
}

interface Losses {
  /** Turns may have lost their lease so often without a trace. */
  lost: number;
  faults: number;
}

/** Plays one random world to its end and checks it. Answers how many faults there were. */
export async function playWorld(
  seed: number,
  store?: TestEngineOptions['store'],
): Promise<{ readonly plan: WorldPlan; readonly faults: number }> {
  const { plan, draw } = planFrom(seed);
  const losses: Losses = { lost: 0, faults: 0 };
  const self: { world: TestEngine | null } = { world: null };
  const fate = plan.hints === 'local' ? null : hintFates[plan.hints];
  const options: TestEngineOptions = {
    scripts: scenarioScripts,
    ...(store === undefined ? {} : { store }),
    settings: plan.settings,
    faults: randomFaults(plan, draw, losses, () => self.world),
    ...(fate === null ? {} : { hints: (target) => queuedHints(target, fate) }),
  };
  const world =
    plan.host === 'resident' ? new TestEngine(options) : new FunctionWorld(options, fate ?? undefined);
  self.world = world;
  try {
    const runs = await startAll(world, plan, draw);
    await endAll(world, plan, losses, runs);
  } catch (error) {
    const told = runsOf(world).map((id) => describeRun(world, id));
    throw new Error(`${String(error)}\n${JSON.stringify(plan)}\n${(await Promise.all(told)).join('\n')}`, {
      cause: error,
    });
  }
  return { plan, faults: losses.faults };
}

const started = new WeakMap<TestEngine, string[]>();
const runsOf = (world: TestEngine): readonly string[] => started.get(world) ?? [];

function randomFaults(
  plan: WorldPlan,
  draw: Draw,
  losses: Losses,
  world: () => TestEngine | null,
): FaultPlan {
  const replace = (): void => {
    const target = world();
    target?.time.at(target.time.now + draw.below(20_000), () => target.boot());
  };
  const startedAt = { ms: -1 };
  return {
    decide: ({ operation }) => {
      const now = world()?.time.now ?? 0;
      if (startedAt.ms < 0) startedAt.ms = now;
      const over = now > startedAt.ms + FAULTY_MS || losses.lost >= LOST_MAX || plan.kinds.length === 0;
      if (over || !draw.chance(plan.share)) return null;
      const fault: Fault = { kind: draw.oneOf(plan.kinds), forMs: draw.below(3 * LEASE_MS) };
      const inStep = READS_OF_STEPS.has(operation);
      if (inStep && plan.host === 'functions' && fault.kind.startsWith('slow')) return null;
      losses.faults += 1;
      if (!fault.kind.startsWith('fail')) losses.lost += 1;
      if (fault.kind.startsWith('freeze')) replace();
      return fault;
    },
    onCrash: replace,
  };
}

interface Running {
  readonly id: string;
  readonly scenario: Scenario;
}

async function startAll(world: TestEngine, plan: WorldPlan, draw: Draw): Promise<readonly Running[]> {
  const sequences = new Map<Scenario, string>();
  for (const scenario of new Set(plan.scenarios)) sequences.set(scenario, await scenario.publish(world));
  for (let process = 0; process < plan.processes; process += 1) {
    world.boot({ skewMs: plan.skewed ? draw.below(1_200_000) - 600_000 : 0 });
  }
  return plan.scenarios.map((scenario) => {
    const id = world.nextId();
    started.set(world, [...runsOf(world), id]);
    const startsAt = world.time.now + draw.below(3000);
    world.time.at(startsAt, () => startSurely(world, sequences.get(scenario) ?? '', id, scenario.data ?? {}));
    serve(world, scenario, id, startsAt);
    if (plan.people !== 'none') interfere(world, plan, draw, id);
    return { id, scenario };
  });
}

/** A pause is always followed by a resume, some time later; a cancel comes once. */
function interfere(world: TestEngine, plan: WorldPlan, draw: Draw, id: string): void {
  const send = (type: string): void => {
    void world.time.track(world.signal(id, type, null, { nudge: draw.chance(0.5) }));
  };
  const at = world.time.now + draw.below(20_000);
  if (plan.people === 'cancelling') world.time.at(at, () => send('cancel'));
  else {
    world.time.at(at, () => send('pause'));
    world.time.at(at + draw.below(60_000), () => send('resume'));
    // Whoever comes between two pauses: the last word is to go on.
    world.time.at(at + 60_001, () => send('resume'));
  }
}

async function endAll(
  world: TestEngine,
  plan: WorldPlan,
  losses: Losses,
  runs: readonly Running[],
): Promise<void> {
  const allEnded = async (): Promise<boolean> => {
    for (const { id } of runs) if (!(await hasEnded(world, id))) return false;
    // What a run has emitted goes on when that run has been cancelled.
    return (await allInstances(world)).every(({ state }) => isTerminal(state));
  };
  const patience = FAULTY_MS + 20 * RECOVERY_MS;
  if (!(await world.time.until(allEnded, patience))) throw new Error('not all runs end');
  const ends = await Promise.all(runs.map(({ id }) => endOf(world, id)));
  for (const [index, { scenario, id }] of runs.entries()) {
    const end = ends[index];
    const cancelled = plan.people === 'cancelling' && (await world.view(id)).cancelRequestedAt !== null;
    const fine = cancelled || (scenario.alsoFine?.(end?.outputs ?? {}) ?? false);
    if (!fine && end !== undefined) await checkEndOf(world, plan, { id, scenario }, end);
    expect(isTerminal((await world.view(id)).state)).toBe(true);
  }
  checkEffects(world.ledger.entries, losses.lost);
  await checkLeftovers(world, plan, ends, runs);
}

const TRACE = '_interceptor:on_signal';

/** Pauses and resumes are signals too, and leave traces of their own; each signal of the scenario has left its trace. */
async function checkEndOf(
  world: TestEngine,
  plan: WorldPlan,
  { id, scenario }: Running,
  end: RunEnd,
): Promise<void> {
  const { name } = scenario;
  const expected = (await expectedEnd(scenario)).end;
  const trace = expected.outputs[TRACE];
  if (plan.people !== 'pausing' || trace === undefined)
    return expect({ name, end }).toEqual({ name, end: expected });
  const rows = (await world.store.listOutputs(TENANT, id, { node: false, retry: false })) ?? [];
  const traces = rows.filter(({ blockId }) => blockId === TRACE).map(({ output }) => output);
  expect(traces).toContainEqual(trace);
  const outputs = { ...end.outputs, [TRACE]: trace };
  return expect({ name, end: { ...end, outputs } }).toEqual({ name, end: expected });
}

/** Whoever was frozen wakes up; nothing changes any more, and nobody holds anything. */
async function checkLeftovers(
  world: TestEngine,
  plan: WorldPlan,
  ends: readonly unknown[],
  runs: readonly Running[],
): Promise<void> {
  const calls = world.ledger.entries.length;
  const asleep = plan.kinds.some((kind) => kind.startsWith('freeze') || kind.startsWith('slow'));
  await world.time.pass(asleep ? 3 * LEASE_MS + RECOVERY_MS : SWEEP_MS);
  expect(await Promise.all(runs.map(({ id }) => endOf(world, id)))).toEqual(ends);
  expect(world.ledger.entries.length).toBe(calls);
  const all = await allInstances(world);
  expect(all.filter(({ leaseUntil, dueAt }) => leaseUntil !== null || dueAt !== null)).toEqual([]);
}

function allInstances(world: TestEngine): ReturnType<TestEngine['store']['listInstances']> {
  const everywhere = { tenantId: TENANT, namespace: null, sequenceId: null };
  return world.store.listInstances({ ...everywhere, states: [], metadata: [], limit: 100, offset: 0 });
}

const expectedRuns = new Map<Scenario, Promise<ScenarioRun>>();

function expectedEnd(scenario: Scenario): Promise<ScenarioRun> {
  const known = expectedRuns.get(scenario) ?? faultless(scenario);
  expectedRuns.set(scenario, known);
  return known;
}
