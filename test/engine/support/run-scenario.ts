import { type Json, canonicalJson } from '../../../src/core/json.ts';
import { isTerminal } from '../../../src/core/run/states.ts';
import type { FaultPlan } from './fault-store.ts';
import type { LedgerEntry } from './ledger.ts';
import { type Scenario, scenarioScripts } from './scenarios.ts';
import { TENANT, TestEngine, type TestEngineOptions } from './test-engine.ts';

const BEAT_MS = 500;
const PATIENCE_MS = 5_000;
const GIVE_UP_MS = 3_600_000;

/** What became of one run of a scenario. */
export interface ScenarioRun {
  readonly world: TestEngine;
  readonly instanceId: string;
  readonly end: RunEnd;
  readonly tookMs: number;
  readonly calls: readonly LedgerEntry[];
}

/** All that must be the same whatever went wrong on the way. */
export interface RunEnd {
  readonly state: string;
  readonly outputs: Readonly<Record<string, Json>>;
  readonly data: Json;
  readonly children: readonly RunEnd[];
}

/** Runs a scenario from its start, as a client asks for it, to its end. A process that is lost is replaced at once. */
export async function runScenario(
  scenario: Scenario,
  faults: (world: () => TestEngine) => FaultPlan,
  options: Omit<TestEngineOptions, 'scripts' | 'faults'> = {},
  makeWorld: (options: TestEngineOptions) => TestEngine = (all) => new TestEngine(all),
): Promise<ScenarioRun> {
  const self: { world: TestEngine | null } = { world: null };
  const plan = faults(() => {
    if (self.world === null) throw new Error('no world yet');
    return self.world;
  });
  const world = makeWorld({ ...options, scripts: scenarioScripts, faults: plan });
  self.world = world;
  const sequenceId = await scenario.publish(world);
  world.boot();
  await world.time.calm();
  const startedAt = world.time.now;
  const instanceId = world.nextId();
  startSurely(world, sequenceId, instanceId, scenario.data ?? {});
  serve(world, scenario, instanceId, startedAt);
  const ended = await world.time.until(() => hasEnded(world, instanceId), GIVE_UP_MS);
  if (!ended) throw new Error(`the run is stuck:\n${await describeRun(world, instanceId)}`);
  const tookMs = world.time.now - startedAt;
  return { world, instanceId, end: await endOf(world, instanceId), tookMs, calls: world.ledger.entries };
}

/** A client that asks again, with the same id, until it has an answer. */
export function startSurely(world: TestEngine, sequenceId: string, id: string, data: Json): void {
  let answered = false;
  const attempt = (): void => {
    if (answered) return;
    const process = world.live;
    if (process !== undefined) {
      void world.start(sequenceId, { id, data, on: process }).then(
        () => {
          answered = true;
        },
        () => undefined,
      );
    }
    world.time.at(world.time.now + PATIENCE_MS, attempt);
  };
  attempt();
}

/** People and workers of a scenario do their part twice a second. */
export function serve(world: TestEngine, scenario: Scenario, instanceId: string, startedAt: number): void {
  const { outside } = scenario;
  if (outside === undefined) return;
  const next = (): void => {
    const beat = async (): Promise<void> => {
      await outside(world, instanceId, world.time.now - startedAt);
      if (!(await hasEnded(world, instanceId))) world.time.at(world.time.now + BEAT_MS, next);
    };
    void world.time.track(beat());
  };
  world.time.at(startedAt + BEAT_MS, next);
}

/** The run and its children have ended. */
export async function hasEnded(world: TestEngine, instanceId: string): Promise<boolean> {
  const view = await world.store.getInstance(TENANT, instanceId);
  if (view === null || !isTerminal(view.state) || (view.hooks ?? null) !== null) return false;
  const children = (await world.store.listChildren(TENANT, instanceId)) ?? [];
  return children.every(({ state, hooks }) => isTerminal(state) && (hooks ?? null) === null);
}

export async function endOf(world: TestEngine, instanceId: string): Promise<RunEnd> {
  const view = await world.view(instanceId);
  const children = (await world.store.listChildren(TENANT, instanceId)) ?? [];
  const ends = await Promise.all(children.map(({ id }) => endOf(world, id)));
  const outputs = await world.outputs(instanceId);
  return { state: view.state, outputs: withoutIds(outputs), data: withoutIds(view.data), children: ends };
}

/** Ids and instants differ between runs; what they stand in does not. */
function withoutIds<T extends Json | Readonly<Record<string, Json>>>(value: T): T {
  const text = canonicalJson(value as Json)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>');
  return JSON.parse(text) as T;
}

/** For a report: where the run stands and what happened last. */
export async function describeRun(world: TestEngine, instanceId: string): Promise<string> {
  const frontier = await world.store.getFrontier(TENANT, instanceId);
  const lines = [
    JSON.stringify(frontier, null, 1),
    ...world.calls.calls
      .slice(-30)
      .map(({ index, process, operation, fault }) => `${index} ${process} ${operation} ${fault?.kind ?? ''}`),
    ...world.calls.calls
      .filter(({ fault }) => fault !== null)
      .map(({ index, fault }) => `${index}: ${fault?.kind}`),
    ...world.log().slice(-20),
  ];
  return lines.join('\n');
}
