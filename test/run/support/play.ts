import { expect } from 'vitest';
import { cancelAtOnce } from '../../../src/core/run/advance.ts';
import { type OutputRow, isTrace } from '../../../src/core/run/output-row.ts';
import { applyChanges } from '../../../src/core/run/reshape/apply-changes.ts';
import { retryRun } from '../../../src/core/run/retry-run.ts';
import { settle } from '../../../src/core/run/settle.ts';
import type { TreeNode } from '../../../src/core/run/tree.ts';
import type { Frontier, InstanceView } from '../../../src/ports/store/reads.ts';
import { checkCommitted, treeOf } from './checks.ts';
import type { Call, Crashes, Scenario } from './script.ts';
import { runDue } from './turn.ts';
import { claimedDraft } from './shape.ts';
import { LEASE_MS, type World, createWorld } from './world.ts';

const INSTANTS_MAX = 3000;

/** What became of a scenario. */
export interface Played {
  readonly world: World;
  readonly instance: InstanceView;
  readonly state: InstanceView['state'];
  /** Milliseconds after the start at which the last thing happened. */
  readonly endedMs: number;
  /** Milliseconds after the start at which the instance changed last. */
  readonly endedAtMs: number;
  /** Listed rows, `<block>[@pass]=<output>`. */
  readonly outputs: readonly string[];
  readonly rows: readonly OutputRow[];
  readonly nodes: readonly TreeNode[];
  /** State of each node by block; a wait with its reason: `waiting:retry`. */
  readonly tree: Readonly<Record<string, string>>;
  readonly calls: readonly Call[];
  /** Blocks in the order in which they were called: `<block>[@pass][#attempt]`. */
  readonly called: readonly string[];
  readonly frontier: Frontier;
}

/** Plays a scenario once as it is and once with each kind of crash; all must end alike. Answers the undisturbed one. */
export async function play(scenario: Scenario): Promise<Played> {
  const calm = await playOnce(scenario);
  for (const crashes of ['after_commits', 'before_commits'] as const) {
    const crashed = await playOnce(scenario, crashes);
    expect({ crashes, ...essence(crashed) }).toEqual({ crashes, ...essence(calm) });
  }
  return calm;
}

export async function playOnce(scenario: Scenario, crashes: Crashes = 'none'): Promise<Played> {
  const world = await createWorld(scenario, crashes);
  for (const event of scenario.events ?? []) {
    if (!('operate' in event)) continue;
    world.plan(world.startAt + event.at, () => operate(world, event.operate));
  }
  await runUntilQuiet(world, scenario.untilMs ?? Number.POSITIVE_INFINITY);
  return look(world);
}

/** Lets a run go on that a test has changed, to its end, and looks at it again. */
export async function goOn(world: World): Promise<Played> {
  await runUntilQuiet(world, Number.POSITIVE_INFINITY);
  return look(world);
}

/** When nothing is due any more, the clock moves to what comes next. */
async function runUntilQuiet(world: World, untilMs: number): Promise<void> {
  const endAt = world.startAt + untilMs;
  for (let instants = 0; instants < INSTANTS_MAX; instants += 1) {
    if ((await runDue(world)) === 'crashed') continue;
    const { dueAt } = await world.store.nextWake();
    const next = [dueAt, world.nextEventAt()].filter((at) => at !== null);
    if (next.length === 0 || Math.min(...next) > endAt) return;
    await world.moveTo(Math.min(...next));
  }
  throw new Error('the scenario does not come to rest');
}

/** An operator's command, in a turn of its own as the engine does it. */
async function operate(world: World, kind: 'retry' | 'cancel'): Promise<void> {
  const answer = await world.store.claimOne({
    tenantId: null,
    instanceId: world.rootId,
    leaseToken: world.newId(),
    leaseOwner: 'operator',
    leaseMs: LEASE_MS,
    mode: 'operator',
    takeOver: true,
  });
  if (answer.status !== 'claimed') throw new Error(`the operator's claim was answered with ${answer.status}`);
  const { claim } = answer;
  if (kind === 'retry' && claim.instance.state !== 'failed') {
    await world.store.releaseLeases([claim]);
    return;
  }
  const draft = await claimedDraft(world, claim);
  if (kind === 'retry') {
    retryRun(draft, world.newId());
    applyChanges(draft, Number.POSITIVE_INFINITY, { restarts: true });
  } else cancelAtOnce(draft);
  const due = {
    state: 'scheduled' as const,
    nextFireAt: null,
    dueAt: world.now,
    openWaits: 0,
    failure: null,
  };
  const settled = kind === 'retry' ? due : settle(draft);
  const { tenantId, instanceId, epoch, leaseToken } = claim;
  const fence = { tenantId, instanceId, epoch, leaseToken, rev: claim.instance.rev };
  const { verdicts } = await world.store.commit([
    { ...fence, runNo: claim.instance.runNo, seenSeq: 0, ...draft.takeChanges(), settle: settled },
  ]);
  expect(verdicts[0]?.verdict).toBe('ok');
  await checkCommitted(world, instanceId);
}

async function look(world: World): Promise<Played> {
  const frontier = await world.store.getFrontier(null, world.rootId);
  const rows = await world.store.listOutputs(null, world.rootId, { node: false, retry: false });
  if (frontier === null || rows === null) throw new Error('the instance is gone');
  const nodes = await treeOf(world, world.rootId);
  return {
    world,
    instance: frontier.instance,
    state: frontier.instance.state,
    endedMs: world.now - world.startAt,
    endedAtMs: frontier.instance.updatedAt - world.startAt,
    outputs: rows.map((row) => `${named(row)}=${JSON.stringify(row.output)}`),
    rows,
    nodes,
    tree: Object.fromEntries(nodes.map((node) => [node.blockId, stateText(node)])),
    calls: world.calls,
    called: world.calls.map((call) => `${named(call)}${call.attempt === 0 ? '' : `#${call.attempt}`}`),
    frontier,
  };
}

function named(of: { readonly blockId: string; readonly iteration: string }): string {
  return of.iteration === '' ? of.blockId : `${of.blockId}@${of.iteration}`;
}

function stateText(node: TreeNode): string {
  return node.reason === null ? node.state : `${node.state}:${node.reason}`;
}

/** What must not depend on crashes. Ids are made anew after a crash and are left out. */
export function essence(played: Played): object {
  const { instance, nodes, rows } = played;
  return {
    state: instance.state,
    dueAt: instance.dueAt,
    openWaits: instance.openWaits,
    data: withoutIds(instance.data),
    failure: withoutIds(instance.failure),
    // What branches do at the same instant may be committed together or one by one: the order says nothing.
    rows: rows
      .filter((row) => !isLoneBefore(row, rows))
      .map((row) =>
        withoutIds([isTrace(row.kind) ? null : row.createdAt, named(row), row.kind, row.attempt, row.output]),
      )
      .toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1)),
    // The first leaf of a turn is not stored before its result (RULINGS A22): a crash can lose when it began.
    nodes: nodes.map(({ startedAt, ...node }) => withoutIds({ ...node, began: startedAt !== null })),
  };
}

/** An attempt that ran on the strength of the claim leaves its trace with its outcome only, when it has one. So does one that asked a limit. */
function isLoneBefore(row: OutputRow, rows: readonly OutputRow[]): boolean {
  if (!row.blockId.startsWith('_interceptor:before:')) return false;
  const after = row.blockId.replace(':before:', ':after:');
  return !rows.some(
    (other) =>
      other.blockId === after &&
      other.iteration === row.iteration &&
      other.attempt === row.attempt &&
      other.runNo === row.runNo,
  );
}

/** Replaces ids that tests make up as they go. */
function withoutIds(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value).replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7000-9000-[0-9a-f]{12}/g, '<id>'),
  );
}
