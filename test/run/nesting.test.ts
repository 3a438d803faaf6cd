import { describe, expect, it } from 'vitest';
import {
  type BlockJson,
  type List,
  forEach,
  loop,
  parallel,
  race,
  router,
  saga,
  scope,
  sleep,
  split,
  step,
  tryCatch,
} from './support/blocks.ts';
import { type Played, play } from './support/play.ts';
import { byRun, cancelAt, fails, ok, retryAt } from './support/script.ts';

interface Wrap {
  readonly make: (id: string, inner: List) => BlockJson;
  /** How often the inner list runs. */
  readonly passes: number;
  /** What becomes of the wrap, as the state of its node, when its inner list fails or is cancelled. */
  readonly whenFailed: 'failed' | 'completed';
  /** A cancel does not reach what is inside. */
  readonly shields?: true;
  /** The whole block begins again after a failure. */
  readonly resets?: true;
}

const other = (id: string): BlockJson => step(`${id}_other`);

/** Every block, and every list of a block that runs in its own way. */
const WRAPS: Readonly<Record<string, Wrap>> = {
  parallel: { make: (id, inner) => parallel(id, [inner, [other(id)]]), passes: 1, whenFailed: 'failed' },
  race: {
    make: (id, inner) => race(id, [inner, [sleep(`${id}_other`, 90_000)]]),
    passes: 1,
    whenFailed: 'failed',
  },
  router: {
    make: (id, inner) => router(id, [['true', inner]], [other(id)]),
    passes: 1,
    whenFailed: 'failed',
  },
  split: {
    make: (id, inner) =>
      split(id, [
        [1, inner],
        [0, [other(id)]],
      ]),
    passes: 1,
    whenFailed: 'failed',
  },
  loop: { make: (id, inner) => loop(id, inner), passes: 2, whenFailed: 'failed' },
  for_each: { make: (id, inner) => forEach(id, 'xs', inner), passes: 2, whenFailed: 'failed' },
  scope: { make: (id, inner) => scope(id, inner), passes: 1, whenFailed: 'failed', shields: true },
  try: { make: (id, inner) => tryCatch(id, inner, [other(id)]), passes: 1, whenFailed: 'completed' },
  catch: {
    make: (id, inner) => tryCatch(id, [step(`${id}_fails`)], inner),
    passes: 1,
    whenFailed: 'failed',
    resets: true,
  },
  finally: {
    make: (id, inner) => tryCatch(id, [other(id)], [], inner),
    passes: 1,
    whenFailed: 'failed',
    shields: true,
  },
  saga: {
    make: (id, inner) => saga(id, [[scopeless(id, inner), step(`${id}_undo`)]]),
    passes: 1,
    whenFailed: 'failed',
    resets: true,
  },
};

/** A list as one block. */
function scopeless(id: string, inner: List): BlockJson {
  return router(`${id}_list`, [['true', inner]]);
}

const MIDDLE: List = [step('a'), step('x', { delay: { duration: 100 } }), step('z')];
const FAILING = { o_fails: fails('on purpose'), i_fails: fails('on purpose') };

const scenarioOf = (outer: Wrap, inner: Wrap) => ({
  blocks: [step('b'), outer.make('o', [inner.make('i', MIDDLE), step('n')]), step('y')],
  data: { xs: [1, 2] },
});

const countOf = (run: Played, id: string): number =>
  run.called.filter((text) => text.split('@')[0] === id).length;

for (const [outerName, outer] of Object.entries(WRAPS)) {
  describe(`blocks inside ${outerName}`, () => {
    for (const [innerName, inner] of Object.entries(WRAPS)) {
      const passes = outer.passes * inner.passes;
      const absorbed = [outer, inner].some((wrap) => wrap.whenFailed === 'completed');

      it(`${innerName}: all is run as often as the passes say`, async () => {
        const run = await play({ ...scenarioOf(outer, inner), on: FAILING });
        expect(run.state).toBe('completed');
        expect([countOf(run, 'a'), countOf(run, 'x'), countOf(run, 'z')]).toEqual([passes, passes, passes]);
        expect(countOf(run, 'n')).toBe(outer.passes);
        expect(run.tree).toMatchObject({ o: 'completed', i: 'completed', x: 'completed', y: 'completed' });
      });

      it(`${innerName}: a failure goes up to what absorbs it [NEST-1]`, async () => {
        const run = await play({ ...scenarioOf(outer, inner), on: { ...FAILING, x: fails('no') } });
        expect(run.state).toBe(absorbed ? 'completed' : 'failed');
        expect(run.tree['i']).toBe(inner.whenFailed);
        expect(run.tree['z']).toBe('skipped');
        expect(run.tree['n']).toBe(inner.whenFailed === 'failed' ? 'skipped' : 'completed');
        expect(run.tree['y']).toBe(absorbed ? 'completed' : 'skipped');
      });

      it(`${innerName}: a cancel ends all that is not protected [CAN-1]`, async () => {
        const run = await play({ ...scenarioOf(outer, inner), on: FAILING, events: [cancelAt(50)] });
        expect(run.state).toBe('cancelled');
        const shielded = outer.shields === true || inner.shields === true;
        expect(run.tree['x']).toBe(shielded ? 'completed' : 'cancelled');
        expect(run.tree['y']).toBe('cancelled');
        expect(run.tree['n']).toBe(outer.shields === true ? 'completed' : 'cancelled');
        expect(run.endedMs).toBe(shielded ? 100 * (outer.shields === true ? inner.passes : 1) : 50);
      });

      it(`${innerName}: a retry runs what failed and nothing that is completed [OP-3] [OP-4]`, async () => {
        const run = await play({
          ...scenarioOf(outer, inner),
          on: { ...FAILING, x: byRun(fails('no'), ok('now')) },
          events: absorbed ? [] : [retryAt(500)],
        });
        expect(run.state).toBe('completed');
        expect(countOf(run, 'b')).toBe(1);
        // A block that begins as a whole runs its first step again in the pass that had failed.
        const resets = !absorbed && [outer, inner].some((wrap) => wrap.resets === true);
        const passesRun = absorbed && inner.whenFailed === 'failed' ? outer.passes : passes;
        expect(countOf(run, 'a')).toBe(passesRun + (resets ? 1 : 0));
        expect(
          new Set(run.rows.map((row) => `${row.blockId}@${row.iteration} ${row.kind} ${row.attempt}`)).size,
        ).toBe(run.rows.length);
      });
    }
  });
}
