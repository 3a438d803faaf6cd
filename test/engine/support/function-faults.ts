import { expect } from 'vitest';
import type { FaultKind, FaultPlan } from './fault-store.ts';
import { CRON_MS, FunctionWorld, LIMIT_MS } from './function-world.ts';
import type { HintFate } from './hint-faults.ts';
import { type ScenarioRun, describeRun, endOf, runScenario } from './run-scenario.ts';
import type { Scenario } from './scenarios.ts';
import { checkEffects, checkEnd } from './single-fault.ts';
import type { TestEngine, TestEngineOptions } from './test-engine.ts';

/** The published bound for this host (RULINGS B4): lease (time limit + 30 s), sweep, 30 s. */
export const RECOVERY_MS = LIMIT_MS + 30_000 + CRON_MS + 30_000;
const FREEZE_MS = 4 * LIMIT_MS;

/** Worlds of functions whose messages fare like this. */
export const onFunctions =
  (fate?: HintFate) =>
  (options: TestEngineOptions): FunctionWorld =>
    new FunctionWorld(options, fate);

/** Runs the scenario on functions with one fault at one call, and checks everything that must hold then. */
export async function checkFunctionFault(
  scenario: Scenario,
  at: number,
  kind: FaultKind,
  expected: ScenarioRun,
): Promise<void> {
  const plan = (world: () => TestEngine): FaultPlan => ({
    decide: (call) => {
      if (call.index !== at) return null;
      if (kind.startsWith('freeze')) replace(world());
      return { kind, forMs: FREEZE_MS };
    },
    onCrash: () => replace(world()),
  });
  const run = await runScenario(scenario, plan, {}, onFunctions());
  try {
    checkEnd(scenario, run.end, expected.end);
    expect(run.tookMs).toBeLessThanOrEqual(expected.tookMs + RECOVERY_MS + 5_000);
    checkEffects(run.calls, 1);
    if (kind.startsWith('freeze')) await run.world.time.pass(FREEZE_MS);
    expect(await endOf(run.world, run.instanceId)).toEqual(run.end);
  } catch (error) {
    const told = `${scenario.name}, ${kind} at call ${at}\n${await describeRun(run.world, run.instanceId)}`;
    throw new Error(`${String(error)}\n${told}`, { cause: error });
  }
}

/** The API is there again at once. */
function replace(world: TestEngine): void {
  world.time.at(world.time.now, () => {
    if (world.live === undefined) world.boot();
  });
}
