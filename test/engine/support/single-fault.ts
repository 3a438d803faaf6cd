import { expect } from 'vitest';
import { LEASE_MS, SWEEP_MS } from './engine-process.ts';
import type { FaultKind, FaultPlan } from './fault-store.ts';
import { noFaults } from './fault-store.ts';
import type { LedgerEntry } from './ledger.ts';
import { type RunEnd, type ScenarioRun, describeRun, endOf, runScenario } from './run-scenario.ts';
import type { Scenario } from './scenarios.ts';
import type { TestEngine, TestEngineOptions } from './test-engine.ts';

export const SINGLE_FAULTS: readonly FaultKind[] = [
  'fail-before',
  'fail-unsure',
  'fail-after',
  'crash-before',
  'crash-after',
  'freeze-before',
  'freeze-after',
];

/** 1 to try each kind of fault at each call, which takes minutes; else how many calls share the kinds. */
const SHARED_BY = process.env['STEPWELL_TEST_FAULTS_SHARED_BY'];

/** The kinds of fault to try at one call: neighbouring calls share them, so that each kind meets every part of a run. */
export function faultsAt(call: number, sharedBy: number): readonly FaultKind[] {
  const count = SHARED_BY === undefined ? sharedBy : Number(SHARED_BY);
  return SINGLE_FAULTS.filter((_, kind) => (call + kind) % count === 0);
}

/** Far beyond a lease, so that whoever wakes finds that the world went on. */
const FREEZE_MS = 2.5 * LEASE_MS;
/** DESIGN promise 3: after any crash a run goes on within lease + sweep + 30 s. */
export const RECOVERY_MS = LEASE_MS + SWEEP_MS + 30_000;

type MakeStore = () => Promise<NonNullable<TestEngineOptions['store']>>;

export async function faultless(scenario: Scenario, store?: MakeStore): Promise<ScenarioRun> {
  return runScenario(scenario, () => noFaults, store === undefined ? {} : { store: await store() });
}

/** Runs the scenario with one fault at one call, and checks everything that must hold then. */
export async function checkSingleFault(
  scenario: Scenario,
  at: number,
  kind: FaultKind,
  expected: ScenarioRun,
  store?: MakeStore,
): Promise<void> {
  const plan = (world: () => TestEngine): FaultPlan => ({
    decide: (call) => {
      if (call.index !== at) return null;
      if (kind.startsWith('freeze')) replaceLater(world());
      return { kind, forMs: FREEZE_MS };
    },
    onCrash: () => replaceLater(world()),
  });
  const run = await runScenario(scenario, plan, store === undefined ? {} : { store: await store() });
  try {
    checkRun(scenario, run, expected, kind.startsWith('fail') ? 0 : 1);
    if (kind.startsWith('freeze')) await checkAfterwards(run);
  } catch (error) {
    const told = `${scenario.name}, ${kind} at call ${at}\n${await describeRun(run.world, run.instanceId)}`;
    throw new Error(`${String(error)}\n${told}`, { cause: error });
  }
}

/** Another process takes the place of the one that is lost. */
function replaceLater(world: TestEngine): void {
  world.time.at(world.time.now, () => {
    world.boot();
  });
}

/** The run ended as it does without faults, or in another way that is as good. */
export function checkEnd(scenario: Scenario, end: RunEnd, expected: RunEnd): void {
  if (!(scenario.alsoFine?.(end.outputs) ?? false)) expect(end).toEqual(expected);
}

export function checkRun(scenario: Scenario, run: ScenarioRun, expected: ScenarioRun, lost: number): void {
  checkEnd(scenario, run.end, expected.end);
  expect(run.tookMs).toBeLessThanOrEqual(expected.tookMs + RECOVERY_MS + 5_000);
  checkEffects(run.calls, lost);
}

/** Each attempt is called once, and once more for each process that was lost; then the handler is told ([REC-2]). */
export function checkEffects(calls: readonly LedgerEntry[], lost: number): void {
  const attempts = new Map<string, LedgerEntry[]>();
  const keys = new Map<string, string>();
  for (const call of calls) {
    const step = `${call.instanceId} ${call.blockId} ${call.iteration}`;
    const key = keys.get(step) ?? call.idempotencyKey;
    keys.set(step, key);
    expect(call.idempotencyKey).toBe(key);
    const attempt = `${step} ${call.attempt}`;
    attempts.set(attempt, [...(attempts.get(attempt) ?? []), call]);
  }
  expect(new Set(keys.values()).size).toBe(keys.size);
  for (const [attempt, entries] of attempts) {
    expect(entries.length, `calls of ${attempt}`).toBeLessThanOrEqual(1 + lost);
    expect(entries.slice(1).every(({ redelivery }) => redelivery)).toBe(true);
  }
}

/** Who was frozen wakes up now, finds that it holds nothing any more, and changes nothing. */
async function checkAfterwards(run: ScenarioRun): Promise<void> {
  const { world } = run;
  const before = { end: await endOf(world, run.instanceId), calls: world.ledger.entries.length };
  await world.time.pass(FREEZE_MS + RECOVERY_MS);
  const after = { end: await endOf(world, run.instanceId), calls: world.ledger.entries.length };
  expect(after).toEqual(before);
}
