import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HistoryRow } from '../../src/core/run/fold/history-row.ts';
import { foldRun } from '../../src/core/run/fold/fold-run.ts';
import { verifyRun } from '../../src/core/run/fold/verify-run.ts';
import type { Frame } from '../../src/core/run/frame.ts';
import type { Plan } from '../../src/core/run/plan.ts';
import type { History } from '../../src/ports/store/history.ts';
import { playOnce } from './support/play.ts';
import { randomScenario } from './support/random-scenario.ts';
import { byPass, fails, ok } from './support/script.ts';
import { randomSeed } from './support/seed.ts';
import { step } from './support/blocks.ts';

const seed = randomSeed();
const runs = Number(process.env['STEPWELL_RUNS'] ?? 40);
const TIMEOUT_MS = 60_000 + runs * 1000;

interface Stored {
  readonly plan: Plan;
  readonly history: History;
}

async function storedOf(scenario: Parameters<typeof playOnce>[0]): Promise<Stored> {
  const { world, instance } = await playOnce(scenario);
  const history = await world.store.getHistory(null, instance.id);
  if (history === null) throw new Error('the run is gone');
  return { plan: await world.planOf(instance.sequenceId), history };
}

/** What verifying says when frames or rows are not those that were stored. */
function verified(
  { plan, history }: Stored,
  planted: { readonly frames?: readonly Frame[]; readonly rows?: readonly HistoryRow[] } = {},
): readonly string[] {
  const { instance, frames, rows } = history;
  return verifyRun({ plan, instance, frames, rows, ...planted });
}

const isRoot = (frame: Frame): boolean => frame.detail.kind === 'root';

const others = (history: History, frame: Frame): readonly Frame[] =>
  history.frames.filter((each) => each !== frame);

describe('verifying a run against its rows', () => {
  it(
    'finds nothing in a run as it was stored, and every frame that was moved, ended or lost (RULINGS B2)',
    async () => {
      // A failed run keeps its frames.
      const scenarios = randomScenario({ permanent: 30, retryable: 10 });
      const property = fc.asyncProperty(scenarios, fc.nat(), async (scenario, pick) => {
        const stored = await storedOf(scenario);
        const { history, plan } = stored;
        expect(verified(stored)).toEqual([]);
        const root = history.frames.find(isRoot);
        fc.pre(root !== undefined && history.instance.state === 'failed');
        if (root === undefined) return;
        const cursor =
          (root.cursor + 1 + (pick % plan.document.blocks.length)) % (plan.document.blocks.length + 1);
        const moved = { ...root, cursor };
        expect(verified(stored, { frames: [moved, ...others(history, root)] })).not.toEqual([]);
        const failing = history.frames.filter((frame) => frame.leaf?.state === 'failed');
        for (const frame of failing) {
          expect(verified(stored, { frames: others(history, frame) })).not.toEqual([]);
        }
      });
      await fc.assert(property, { seed, numRuns: runs });
    },
    TIMEOUT_MS,
  );

  it('finds a row that was lost, and says which list it stood in (RULINGS B2)', async () => {
    const stored = await storedOf({ blocks: [step('a'), step('b')], on: { b: fails('no') } });
    const rows = stored.history.rows.filter((row) => row.blockId !== 'a');
    expect(verified(stored)).toEqual([]);
    expect(verified(stored, { rows })).toEqual([
      expect.stringMatching(/^the root list: stored .*"cursor":1/),
    ]);
  });

  it('folds a leaf that has a row as over, whatever its frame says: the row wins (RULINGS B2) [MEMO-3]', async () => {
    const { history, plan } = await storedOf({ blocks: [step('a'), step('b')], on: { b: fails('no') } });
    const { instance, rows } = history;
    const behind = history.frames.map((frame): Frame => ({ ...frame, cursor: 0, leaf: null }));
    const folded = foldRun({ plan, instance, rows });
    expect(folded.map(({ cursor, leaf }) => [cursor, leaf?.state])).toEqual([[1, 'failed']]);
    expect(verified({ history, plan }, { frames: behind })).toHaveLength(1);
  });

  it('finds a pass that was miscounted, and an end that was told otherwise (RULINGS B2, [LOOP-5])', async () => {
    const loop = { type: 'loop', id: 'l', condition: 'true', max_iterations: 3, body: [step('a')] };
    const on = { a: byPass(ok(1), ok(2), fails('no')) };
    const stored = await storedOf({ blocks: [loop], on });
    expect(verified(stored)).toEqual([]);
    const { frames, rows } = stored.history;
    const miscounted = frames.map((frame): Frame => {
      const { detail } = frame;
      return detail.kind === 'loop' ? { ...frame, detail: { ...detail, passes: detail.passes + 1 } } : frame;
    });
    expect(verified(stored, { frames: miscounted })).not.toEqual([]);
    const decision = { passes: 1, last_pass: 1 };
    const retold = rows.map((row) =>
      row.blockId === 'l' && row.kind === 'node' ? { ...row, output: { state: 'failed', decision } } : row,
    );
    expect(verified(stored, { rows: retold })).not.toEqual([]);
  });
});
