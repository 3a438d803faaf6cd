import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Act, actArbitrary } from './random-acts.ts';
import { Player } from './player.ts';
import type { MakeStore, StoreUnderTest } from './store-under-test.ts';

/**
 * Two stores that are told the same in the same order answer the same and hold the same. What the suite forgets to
 * say, this finds: a difference is a defect of one of them or a hole in the contract.
 */
export function describeSameAnswers(
  names: string,
  makeStores: { readonly left: MakeStore; readonly right: MakeStore },
  options: { readonly runs: number; readonly actsMax: number },
): void {
  describe(`same answers of ${names}`, () => {
    it('random acts have the same answers and leave the same rows', { timeout: 240_000 }, async () => {
      const left = await FreshStores.of(makeStores.left);
      const right = await FreshStores.of(makeStores.right);
      const acts = fc.array(actArbitrary, { minLength: 1, maxLength: options.actsMax, size: 'max' });
      const property = fc.asyncProperty(acts, async (played) => {
        await expectSame(await left.next(), await right.next(), played);
      });
      await fc.assert(property, { numRuns: options.runs });
      await left.close();
      await right.close();
    });
  });
}

async function expectSame(left: StoreUnderTest, right: StoreUnderTest, acts: readonly Act[]): Promise<void> {
  const [first, second] = [new Player(left), new Player(right)];
  for (const [index, act] of acts.entries()) {
    const mine = await first.play(act, index);
    const theirs = await second.play(act, index);
    expect(theirs, `answer of act ${index}: ${JSON.stringify(act)}`).toEqual(mine);
    const rows = await first.rows();
    expect(await second.rows(), `rows after act ${index}: ${JSON.stringify(act)}`).toEqual(rows);
  }
}

/** An empty store for each run, by the cheapest way the adapter knows. */
class FreshStores {
  private readonly make: MakeStore;
  private current: StoreUnderTest;

  private constructor(make: MakeStore, current: StoreUnderTest) {
    this.make = make;
    this.current = current;
  }

  static async of(make: MakeStore): Promise<FreshStores> {
    return new FreshStores(make, await make());
  }

  async next(): Promise<StoreUnderTest> {
    if (this.current.reset !== undefined) await this.current.reset();
    else {
      await this.current.close();
      this.current = await this.make();
    }
    return this.current;
  }

  close(): Promise<void> {
    return this.current.close();
  }
}
