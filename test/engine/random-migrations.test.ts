import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { checkPromises } from '../../src/core/run/promises.ts';
import type { MigrationPreview } from '../../src/core/run/reshape/preview.ts';
import { isTerminal } from '../../src/core/run/states.ts';
import { Author, Dice, dice, mutated } from './support/random-document.ts';
import { migrate, nodesOf, preview, verified } from './support/reshaping.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const RUNS = Number(process.env['STEPWELL_TEST_MIGRATIONS'] ?? 150);
const SEED = Number(process.env['STEPWELL_TEST_SEED'] ?? 20_270_301);
const HOUR_MS = 3_600_000;
/** Each attempt leaves its traces once, also when its block goes and comes again. */
const TRACED: JsonObject = {
  interceptors: { before_step: { handler: 'trace' }, after_step: { handler: 'trace' } },
};

const failure = { ok: false as const, failure: { message: 'broken', retryable: false } };

function newWorld(): TestEngine {
  const world = new TestEngine({
    scripts: {
      quick: {},
      slow: { takesMs: 300 },
      slower: { takesMs: 1_100 },
      calm: { kind: 'pure' },
      broken: { takesMs: 200, outcome: () => failure },
    },
  });
  world.boot();
  return world;
}

function must(holds: boolean, text: string): void {
  if (!holds) throw new Error(text);
}

/** Lets time pass; workers report what they find every 250 ms. */
async function pass(world: TestEngine, ms: number, until: () => Promise<boolean>): Promise<boolean> {
  for (let passed = 0; passed < ms; passed += 250) {
    if (await until()) return true;
    await world.time.pass(250);
    for (let task = await world.poll('work'); task !== null; task = await world.poll('work')) {
      await world.report(task, { ok: true, output: { did: task.blockId } });
    }
  }
  return until();
}

/** Blocks that have a result, with their passes. */
async function completed(world: TestEngine, id: string): Promise<readonly string[]> {
  const rows = (await world.store.listOutputs(TENANT, id, { node: false, retry: false })) ?? [];
  return rows.filter(({ kind }) => kind === 'result').map((row) => `${row.blockId}@${row.iteration}`);
}

/** What a preview says of a run that stands still is what the run then is. */
async function checkPreview(world: TestEngine, id: string, told: MigrationPreview): Promise<void> {
  const tree = await nodesOf(world, id);
  expect(tree).toEqual(told.tree);
  const ids = tree.map(({ blockId }) => blockId);
  expect([...told.kept, ...told.added].map(({ blockId }) => blockId).toSorted()).toEqual(ids.toSorted());
  const open = await world.store.getFrontier(TENANT, id);
  const gone = told.dropped.map(({ blockId }) => blockId).filter((blockId) => !ids.includes(blockId));
  for (const task of open?.openTasks ?? []) expect(gone).not.toContain(task.blockId);
}

/** Ids are counted anew in every world, so two worlds with the same dice are the same. */
async function playMigration(seed: number): Promise<'moved' | 'refused' | 'too_late' | 'invalid'> {
  const roll = new Dice(seed);
  const author = new Author(roll);
  const world = newWorld();
  const blocks = author.list(3, 4);
  const targetBlocks = mutated(blocks, author, 1 + roll.below(9));
  const source = await world.publish(blocks, TRACED).catch(() => null);
  const target = await world.publish(targetBlocks, TRACED).catch(() => null);
  if (source === null || target === null) return 'invalid';
  const id = await world.start(source, { data: { items: [1, 2, 3], n: roll.below(3) } });
  await pass(world, roll.below(8) * 250, async () => isTerminal((await world.view(id)).state));
  const isStill = roll.chance(60);
  if (isStill) {
    await world.signal(id, 'pause');
    await world.time.pass(2_000);
  }
  const told = await preview(world, id, target);
  if (!told.ok) {
    must(isTerminal((await world.view(id)).state), told.error.message);
    return 'too_late';
  }
  const before = await completed(world, id);
  const callsBefore = world.ledger.entries.length;
  const move = await migrate(world, id, target);
  expect(await verified(world, id)).toEqual([]);
  const paused = (await world.view(id)).state === 'paused';
  if (!move.ok && move.error.code === 'instance_terminal') return 'too_late';
  must(move.ok || move.error.code === 'cannot_migrate', 'the move is refused for another reason');
  if (isStill && paused) {
    must(move.ok === (told.value.preview.refusals.length === 0), 'the move is not what the preview said');
    if (move.ok) await checkPreview(world, id, told.value.preview);
    await world.signal(id, 'resume');
  }
  if (roll.chance(20)) {
    for (const process of world.processes) process.crash();
    world.boot();
  }
  if (move.ok && roll.chance(25)) {
    await pass(world, roll.below(6) * 250, async () => isTerminal((await world.view(id)).state));
    await migrate(world, id, source);
  }
  const ended = await pass(world, HOUR_MS, async () => isTerminal((await world.view(id)).state));
  const frontier = await world.store.getFrontier(TENANT, id);
  if (!ended || frontier === null)
    throw new Error(`stuck: ${JSON.stringify(frontier, null, 1)}\n${world.log().join('\n')}`);
  expect(checkPromises(frontier)).toEqual([]);
  expect(await verified(world, id)).toEqual([]);
  expect(world.log().filter((line) => line.includes('broke off'))).toEqual([]);
  const kept = new Set(told.value.preview.kept.map(({ blockId }) => blockId));
  const again = world.ledger.entries
    .slice(callsBefore)
    .filter(({ blockId, iteration }) => kept.has(blockId) && before.includes(`${blockId}@${iteration}`));
  expect(again.map(({ blockId, iteration }) => `${blockId}@${iteration}`)).toEqual([]);
  return move.ok ? 'moved' : 'refused';
}

describe('migrations between random versions (20.5)', () => {
  it('end, repeat nothing that completed and was kept, follow from their rows, and do what their preview said [OP-14]', {
    timeout: 3_600_000,
  }, async () => {
    const counts: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(dice(), async (seed) => {
        const became = await playMigration(seed);
        counts[became] = (counts[became] ?? 0) + 1;
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    );
    console.log(`random migrations from seed ${SEED}: ${JSON.stringify(counts)}`);
    expect(counts['moved'] ?? 0).toBeGreaterThan(RUNS / 10);
  });
});
