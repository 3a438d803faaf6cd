import { describe, expect, it } from 'vitest';
import { gate, loop, sleep } from './support/blocks.ts';
import { play } from './support/play.ts';
import { answerAt } from './support/script.ts';

/** Facts that no turn has processed. */
const openFacts = async (run: Awaited<ReturnType<typeof play>>): Promise<number> =>
  (await run.world.store.getFrontier(null, run.instance.id))?.inbox.length ?? -1;

describe('answers that come before the gate of a loop', () => {
  it('of two early answers to the gate of a loop the second answers the next pass [HI-6] [HI-7]', async () => {
    const run = await play({
      blocks: [sleep('s', 100), loop('l', [gate('g'), sleep('z', 100)])],
      events: [
        answerAt(10, 'g', { value: 'no' }),
        answerAt(20, 'g', { value: 'huh' }),
        answerAt(30, 'g', { value: 'yes' }),
      ],
    });
    expect([run.state, run.endedMs, run.instance.data]).toEqual(['completed', 300, { g: 'yes' }]);
    expect(await openFacts(run)).toBe(0);
  });

  it('of two early answers that name one pass of a loop the second is consumed [HI-6] [HI-7]', async () => {
    const run = await play({
      blocks: [sleep('s', 100), loop('l', [gate('g'), sleep('z', 100)])],
      events: [
        answerAt(10, 'g', { value: 'no', iteration: 'l:0' }),
        answerAt(20, 'g', { value: 'yes', iteration: 'l:0' }),
      ],
    });
    expect([run.state, run.tree['g'], run.instance.data]).toEqual(['waiting', 'waiting:input', { g: 'no' }]);
    expect(await openFacts(run)).toBe(0);
  });

  it('early answers that no pass is left for expire with the run [HI-6] [HI-7] [SIG-4]', async () => {
    const run = await play({
      blocks: [sleep('s', 100), loop('l', [gate('g')]), sleep('z', 100)],
      events: [10, 20, 30].map((at) => answerAt(at, 'g', { value: 'yes' })),
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 200]);
    expect(await openFacts(run)).toBe(0);
  });
});
