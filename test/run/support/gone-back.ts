import { member } from '../../../src/core/json.ts';
import { isLive } from '../../../src/core/run/fold/history-row.ts';
import { isTrace } from '../../../src/core/run/output-row.ts';
import { outerIteration } from '../../../src/core/run/plan.ts';
import type { Played } from './play.ts';
import type { RandomScenario } from './random-scenario.ts';
import type { Call } from './script.ts';

/** A block in one of its passes. */
export interface At {
  readonly block: string;
  readonly iteration: string;
}

/** The same answers in every run of the instance: what failed fails again. */
export function steadfast(scenario: RandomScenario): RandomScenario {
  const on = Object.fromEntries(
    Object.entries(scenario.on ?? {}).map(([id, reaction]) => [
      id,
      typeof reaction === 'function' ? (call: Call) => reaction({ ...call, runNo: 1 }) : reaction,
    ]),
  );
  return { ...scenario, on };
}

/** Every block and pass that the run came to: those with rows, and all that is around them. */
export async function placesOf(run: Played): Promise<readonly At[]> {
  const { world } = run;
  const history = await world.store.getHistory(null, world.rootId);
  const plan = await world.planOf(run.instance.sequenceId);
  const places = new Map<string, At>();
  for (const row of (history?.rows ?? []).filter(isLive)) {
    let { iteration } = row;
    for (let node = plan.nodes.get(row.blockId); node !== undefined; ) {
      places.set(`${node.block.id}@${iteration}`, { block: node.block.id, iteration });
      const parent = node.parentId === null ? undefined : plan.nodes.get(node.parentId);
      const kind = parent?.block.type;
      if (parent !== undefined && (kind === 'loop' || kind === 'for_each')) {
        iteration = outerIteration(iteration, parent.block.id);
      }
      node = parent;
    }
  }
  return [...places.values()];
}

/** What happens at which instant decides these: a run that begins in the middle may decide otherwise. */
export function dependsOnTime(scenario: RandomScenario): boolean {
  return /"type":"race"|"fail_fast"|"min_successful"|"concurrency":[2-9]/.test(
    JSON.stringify(scenario.blocks),
  );
}

/** How a run ended, without what a new run makes anew: instants, ids, the number of the run, `_error` ([CERR-1]). */
export function outcomeOf(run: Played): unknown {
  const { _error: _, ...data } = (run.instance.data ?? {}) as Record<string, unknown>;
  // Alerts depend on how long a run took, and signals have been accepted once more.
  const told = run.rows.filter((row) => !isTrace(row.kind));
  const rows = told.map((row) => {
    const { blockId, iteration, kind, attempt, output } = row;
    // Items that run side by side are counted as they end.
    const item = member(output, '_item');
    const value = item === undefined ? [attempt, output] : [item, member(output, '_item_failed') ?? false];
    return withoutIds(JSON.stringify([blockId, iteration, kind, ...value]));
  });
  // Of items that run side by side the tree shows one: which one depends on when they end.
  const shown = run.nodes.filter(({ iteration }) => !iteration.includes('fan_out'));
  const nodes = shown.map(({ blockId, state, iteration, attempt, error }) => [
    blockId,
    state,
    iteration,
    attempt,
    withoutIds(JSON.stringify(error)),
  ]);
  return {
    state: run.state,
    data,
    rows: rows.toSorted(),
    nodes,
    failure: withoutIds(JSON.stringify(run.instance.failure)),
  };
}

function withoutIds(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7000-9000-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<at>');
}
