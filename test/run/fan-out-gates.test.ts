import { describe, expect, it } from 'vitest';
import { openWaits } from '../../src/engine/explain-waits.ts';
import { unheardSignals } from '../../src/engine/unheard-signals.ts';
import { forEach, gate, loop, parallel, step } from './support/blocks.ts';
import { type Played, playOnce, play } from './support/play.ts';
import { answerAt, ok } from './support/script.ts';

const waits = async (run: Played): Promise<readonly string[]> => {
  const plan = await run.world.planOf(run.instance.sequenceId);
  return openWaits(run.frontier, plan)
    .filter(({ kind }) => kind === 'gate')
    .map(({ blockId, iteration }) => `${blockId ?? ''}@${iteration}`);
};

const detail = async (run: Played): Promise<string> => {
  const plan = await run.world.planOf(run.instance.sequenceId);
  return openWaits(run.frontier, plan).find(({ kind }) => kind === 'gate')?.detail ?? '';
};

const yes = (iteration: string): { value: string; iteration: string } => ({ value: 'yes', iteration });

const unheard = async ({ world, instance }: Played): Promise<readonly string[]> => {
  const { tenantId, id: instanceId, sequenceId } = instance;
  const rows = await world.store.listSignals({ tenantId, instanceId, limit: 20, offset: 0 });
  return unheardSignals(rows ?? [], await world.planOf(sequenceId)).map((signal) => signal.detail);
};

describe('gates of items that run side by side', () => {
  it('are answered one by one by the name of their item: of 1, 2, 3 only the second stays open (B15)', async () => {
    const run = await play({
      blocks: [forEach('each', 'xs', [gate('g')], { concurrency: 3 })],
      data: { xs: [1, 2, 3] },
      events: [answerAt(10, 'g', yes('each:2')), answerAt(20, 'g', yes('each:0'))],
      untilMs: 100,
    });
    expect(run.state).toBe('waiting');
    expect(run.called).toEqual(['g@each:2', 'g@each:0']);
    expect(await waits(run)).toEqual(['g@each:1']);
    expect(run.instance.openWaits).toBe(1);
  });

  it('need no name while only one of them is open', async () => {
    const run = await play({
      blocks: [forEach('each', 'xs', [gate('g')], { concurrency: 2 })],
      data: { xs: [1] },
      events: [answerAt(10, 'g', { value: 'yes' })],
    });
    expect(run.state).toBe('completed');
  });

  it('do not take an answer that may be meant for another, and say so [HI-3]', async () => {
    const run = await play({
      blocks: [forEach('each', 'xs', [gate('g')], { concurrency: 2 })],
      data: { xs: [1, 2] },
      events: [answerAt(10, 'g', { value: 'yes' })],
      untilMs: 100,
    });
    expect(run.called).toEqual([]);
    expect(await waits(run)).toEqual(['g@each:0', 'g@each:1']);
    expect(await detail(run)).toContain(
      "2 passes wait at this gate; the answer has to name one of them as 'iteration'",
    );
  });

  it('take an answer that comes before the gate, when it names the item [HI-6]', async () => {
    const run = await play({
      blocks: [forEach('each', 'xs', [step('a'), gate('g')], { concurrency: 2 })],
      data: { xs: [1, 2, 3] },
      on: { a: ok(null, { takesMs: 50 }) },
      events: [
        answerAt(10, 'g', yes('each:2')),
        answerAt(20, 'g', yes('each:0')),
        answerAt(25, 'g', yes('each:7')),
        answerAt(30, 'g', { value: 'yes' }),
      ],
      untilMs: 500,
    });
    expect(await waits(run)).toEqual(['g@each:1']);
    expect(run.frontier.inbox).toEqual([]);
  });

  it('are named by the path that leads to them, however deep they stand', async () => {
    const run = await play({
      blocks: [
        forEach('each', 'xs', [parallel('p', [[loop('l', [gate('g')])], [gate('h')]])], { concurrency: 2 }),
      ],
      data: { xs: [1, 2] },
      events: [
        answerAt(10, 'g', yes('each:1')),
        answerAt(20, 'g', yes('each:1/l:1')),
        answerAt(30, 'g', yes('each:0/l:0')),
        answerAt(40, 'h', yes('each:1')),
        answerAt(50, 'g', yes('each:1/l:1')),
      ],
      untilMs: 500,
    });
    expect(await waits(run)).toEqual(['h@each:0', 'g@each:0/l:1']);
  });
});

describe('an answer that is not taken', () => {
  const wrong: readonly (readonly [unknown, string])[] = [
    [{ value: 'maybe' }, "its 'value' was none of yes, no"],
    [{ approved: true }, "its payload had no 'value'; it may be yes, no"],
    ['yes', "its payload was no object with a 'value' of yes, no"],
  ];
  for (const [payload, why] of wrong) {
    it(`leaves a hint where one asks why the gate still waits: ${JSON.stringify(payload)} [HI-3]`, async () => {
      const run = await play({
        blocks: [gate('g')],
        events: [answerAt(10, 'g', payload as never)],
        untilMs: 100,
      });
      expect(run.state).toBe('waiting');
      const at = new Date(run.world.startAt + 10).toISOString();
      expect(await detail(run)).toBe(
        `waits for one of the answers yes, no (the answer of ${at} was not taken: ${why})`,
      );
    });
  }

  it('changes neither the state nor the audit log [TURN-1]', async () => {
    const scenario = { blocks: [gate('g')], untilMs: 100 };
    const calm = await playOnce(scenario);
    const run = await playOnce({ ...scenario, events: [answerAt(10, 'g', { value: 'maybe' })] });
    expect(run.state).toBe(calm.state);
    const audit = async (of: Played) => (await of.world.store.listAudit(null, of.instance.id, 50))?.length;
    expect(await audit(run)).toBe(await audit(calm));
  });

  it('is told of when it came before the gate was reached, too [HI-6]', async () => {
    const run = await play({
      blocks: [step('a'), gate('g')],
      on: { a: ok(null, { takesMs: 50 }) },
      events: [answerAt(10, 'g', { value: 'maybe' })],
      untilMs: 100,
    });
    expect(run.state).toBe('waiting');
    expect(await unheard(run)).toEqual(["'g' takes no such answer: its 'value' was none of yes, no"]);
  });

  it('is told of when it named no pass where several ask', async () => {
    const run = await play({
      blocks: [forEach('each', 'xs', [gate('g')], { concurrency: 2 })],
      data: { xs: [1, 2] },
      events: [answerAt(10, 'g', { value: 'yes' })],
      untilMs: 100,
    });
    expect(await unheard(run)).toEqual([
      "'g' did not take it; where several passes ask, an answer names one of them as 'iteration'",
    ]);
  });

  it('is not told of when the gate took it', async () => {
    const run = await play({
      blocks: [step('a'), gate('g'), gate('h')],
      on: { a: ok(null, { takesMs: 50 }) },
      events: [answerAt(10, 'g', { value: 'yes' })],
      untilMs: 100,
    });
    expect(await unheard(run)).toEqual([]);
  });

  it('is forgotten when the gate is answered', async () => {
    const run = await play({
      blocks: [gate('g'), gate('h')],
      events: [answerAt(10, 'g', { value: 'maybe' }), answerAt(20, 'g', { value: 'yes' })],
      untilMs: 100,
    });
    expect(await detail(run)).toBe('waits for one of the answers yes, no');
  });
});
