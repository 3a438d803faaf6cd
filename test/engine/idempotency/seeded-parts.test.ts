import { describe, expect, it } from 'vitest';
import { uuidTimeMs } from '../../../src/engine/ids.ts';
import { seededEntropy, seededIds } from '../../../src/engine/idempotency/seeded-parts.ts';

const SEED = '0193a000-0000-7abc-8def-000000000001';

describe('parts made from a seed', () => {
  it('are the same for each attempt, however they are asked', () => {
    const [first, second] = [seededEntropy('s', SEED), seededEntropy('s', SEED)];
    const bytes = [...first.bytes(7), ...first.bytes(100), ...first.bytes(0)];
    expect([...second.bytes(107)]).toEqual(bytes);
  });

  it('are others for another seed or secret', () => {
    const drawn = (secret: string, seed: string) => seededEntropy(secret, seed).bytes(32).join();
    const all = [drawn('s', SEED), drawn('t', SEED), drawn('s', SEED.replace('1', '2'))];
    expect(new Set(all).size).toBe(3);
  });

  it('ids ascend, follow the seed and are of its moment', () => {
    const make = () => seededIds(seededEntropy('s', SEED), SEED);
    const ids = Array.from(
      { length: 20 },
      (
        (source) => () =>
          source.newId()
      )(make()),
    );
    const again = make();
    expect(ids.map(() => again.newId())).toEqual(ids);
    expect([SEED, ...ids]).toEqual([SEED, ...ids].toSorted());
    for (const id of ids) expect(uuidTimeMs(id) - uuidTimeMs(SEED)).toBeLessThanOrEqual(1);
  });
});
