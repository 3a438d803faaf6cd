import { describe, expect, it } from 'vitest';
import { compare, differences } from './compare.ts';
import { smallWorlds } from './enumerate.ts';
import { generateWorld } from './generate.ts';
import { shrink } from './shrink.ts';
import type { World } from './world.ts';

/**
 * The engine against the reference interpreter, which was written from the specification alone. The seeds are fixed:
 * `STEPWELL_REFERENCE_CASES` says how many worlds are drawn (20,000 on CI, 1,000 elsewhere), and `STEPWELL_REFERENCE_SEED`
 * starts at another seed. A difference is printed with its seed and as the smallest world that still shows it.
 */
const ON_CI = process.env['CI'] !== undefined;
const cases = Number(process.env['STEPWELL_REFERENCE_CASES'] ?? (ON_CI ? 20_000 : 1000));
const firstSeed = Number(process.env['STEPWELL_REFERENCE_SEED'] ?? 1);
/** Of the small worlds, every nth. */
const stride = ON_CI ? 4 : 29;
const PARTS = 10;
const MS_PER_CASE = 200;

async function differs(world: World): Promise<boolean> {
  return (await compare(world)).kind === 'different';
}

/** Null when both agree, or when nothing defines the order of events. */
async function report(name: string, world: World): Promise<string | null> {
  const comparison = await compare(world);
  if (comparison.kind !== 'different') return null;
  const smallest = await shrink(world, differs);
  const again = await compare(smallest);
  const { reference, engine } = again.kind === 'different' ? again : comparison;
  const lines = differences(reference, engine).slice(0, 20);
  return [name, JSON.stringify(smallest), ...lines, JSON.stringify({ reference, engine })].join('\n');
}

describe('the engine and the reference interpreter', () => {
  const perPart = Math.ceil(cases / PARTS);
  for (let part = 0; part < PARTS; part += 1) {
    it(
      `agree on random worlds, part ${part + 1}`,
      async () => {
        const from = firstSeed + part * perPart;
        for (let seed = from; seed < from + perPart; seed += 1) {
          expect(await report(`seed ${seed}`, generateWorld(seed))).toBeNull();
        }
      },
      60_000 + perPart * MS_PER_CASE,
    );
  }

  it(
    'agree on every block in every block with every event',
    async () => {
      const all = [...smallWorlds()];
      expect(all.length).toBeGreaterThan(10_000);
      for (const { name, world } of all.filter((_each, index) => index % stride === 0)) {
        expect(await report(name, world)).toBeNull();
      }
    },
    60_000 + 30_000 * MS_PER_CASE,
  );
});
