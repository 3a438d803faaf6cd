import { describe, expect, it } from 'vitest';
import type { Plan } from '../../src/core/run/plan.ts';
import { checkInjection } from '../../src/core/run/reshape/check-injection.ts';
import {
  forEach,
  loop,
  parallel,
  pure,
  race,
  saga,
  scope,
  sleep,
  step,
  task,
  tryCatch,
} from './support/blocks.ts';
import { type Played, goOn, play, playOnce } from './support/play.ts';
import { resumeNow } from './support/resume.ts';
import {
  type Answer,
  type Reaction,
  type Scenario,
  byPass,
  byRun,
  fails,
  ok,
  retryAt,
  signal,
} from './support/script.ts';

/** Beside a sleep a run can be paused, and a worker that has its task by then reports all the same. */
const pausable = (...branches: Scenario['blocks'][]): Scenario['blocks'] => [
  parallel('p', [...branches, [sleep('asleep', 90_000)]]),
];

const reported = (atMs: number): Answer => ok('done', { takesMs: atMs });

const calledBy = (run: Played, runNo: number): readonly string[] =>
  run.calls.filter((call) => call.runNo === runNo).map(({ blockId, iteration }) => `${blockId}@${iteration}`);

/** Smallest forms of what going back in random trees has found; each commit is checked against its rows. */
describe('the rows of a run that is paused', () => {
  const RECORDED: Readonly<Record<string, Pick<Scenario, 'blocks' | 'on'>>> = {
    'a try list': { blocks: [tryCatch('t', [task('w')], [step('c')], [step('f')])] },
    'a try list without a finally list': { blocks: [tryCatch('t', [task('w')], [step('c')])] },
    'a catch list': {
      blocks: [tryCatch('t', [step('a')], [task('w')], [step('f')])],
      on: { a: fails('no') },
    },
    'an action of a saga': { blocks: [saga('s', [[task('w'), step('u')], [step('b')]])] },
    'a compensation': {
      blocks: [
        saga('s', [
          [step('a'), step('ua')],
          [step('b'), task('w')],
          [step('c'), step('uc')],
        ]),
      ],
      on: { c: fails('no') },
    },
  };
  for (const [name, { blocks, on }] of Object.entries(RECORDED)) {
    it(`say how ${name} ended before its block knows (RULINGS B2)`, async () => {
      const run = await playOnce({
        blocks: pausable(blocks),
        on: { ...on, w: reported(100) },
        events: [{ at: 25, claim: 'w' }, signal(50, 'pause'), signal(200, 'resume')],
      });
      expect(['completed', 'failed']).toContain(run.state);
      expect(run.outputs).toContain('w="done"');
    });
  }
});

describe('the rows of a for_each that outlives failures', () => {
  it('say which item failed the block after it had been outlived in a run before (RULINGS B2, B25)', async () => {
    const each = forEach('f', 'ys', [step('a')], {
      concurrency: 1,
      on_item_failure: 'continue',
      tolerate: { count: 1 },
    });
    const run = await playOnce({
      blocks: [each],
      data: { ys: [1, 2] },
      on: { a: fails('no') },
      events: [retryAt(1000)],
    });
    expect(run.state).toBe('failed');
    expect(run.called).toEqual(['a@f:0', 'a@f:1', 'a@f:1', 'a@f:0']);
  });

  it('say where an item stands that a retry goes on in, while others ended after it (RULINGS B2, B25)', async () => {
    const inner = forEach('g', 'ys', [step('a')]);
    const each = forEach('f', 'ys', [loop('l', [inner])], {
      concurrency: 1,
      on_item_failure: 'continue',
      tolerate: { count: 1 },
    });
    const run = await playOnce({
      blocks: [each],
      data: { ys: [1, 2, 3] },
      on: {
        a: ({ runNo, iteration }) => (runNo === 1 && /f:[01].l:1.g:1/.test(iteration) ? fails('no') : ok()),
      },
      events: [retryAt(1000)],
    });
    expect(run.state).toBe('completed');
    const left = ['a@f:1/l:1/g:1', 'a@f:1/l:1/g:2', 'a@f:0/l:1/g:1', 'a@f:0/l:1/g:2'];
    expect(calledBy(run, 2).slice(0, 5)).toEqual([...left, 'a@f:2/l:0/g:0']);
  });
});

describe('the rows of a parallel that ends early', () => {
  it.each([
    ['a scope', scope('s', [step('b')])],
    ['a loop', loop('s', [step('b')])],
    ['a parallel', parallel('s', [[step('b')]])],
  ])('say that a branch was cut in which %s had just failed (RULINGS B2, B25)', async (_name, block) => {
    const bad = fails('no', { takesMs: 10 });
    const caught = tryCatch('t', [parallel('p', [[step('a')], [block]], { fail_fast: true })], [task('w')]);
    const run = await playOnce({ blocks: [caught], on: { a: bad, b: bad, w: ok() } });
    expect(run.state).toBe('completed');
    expect(run.tree).toMatchObject({ p: 'failed', a: 'failed', b: 'failed' });
  });
});

describe('going back during a pause', () => {
  it('keeps nothing in flight that comes after the item, where items run one after the other [OP-5]', async () => {
    const each = forEach('f', 'ys', [task('w')], {
      concurrency: 1,
      on_item_failure: 'continue',
      tolerate: { count: 1 },
    });
    const { world } = await playOnce({
      blocks: pausable([each]),
      data: { ys: [1, 2] },
      on: { w: byPass(reported(100), reported(1000)) },
      events: [signal(150, 'pause')],
      untilMs: 200,
    });
    expect(await resumeNow(world, { block: 'w', iteration: 'f:0' })).toBeNull();
    const run = await goOn(world);
    expect(run.state).toBe('completed');
    expect(calledBy(run, 2)).toEqual(['w@f:0', 'w@f:1']);
  });

  it('opens no item again that is in flight beside the one it goes back to (RULINGS B25) [OP-5]', async () => {
    const { world } = await playOnce({
      blocks: pausable([forEach('f', 'ys', [task('w')], { concurrency: 2 })]),
      data: { ys: [1, 2, 3] },
      on: { w: byPass(reported(100), reported(1000), reported(1000)) },
      events: [signal(150, 'pause')],
      untilMs: 200,
    });
    expect(await resumeNow(world, { block: 'w', iteration: 'f:1' })).toBeNull();
    const run = await goOn(world);
    expect(run.state).toBe('completed');
    expect(calledBy(run, 2)).toEqual(['w@f:1']);
  });

  it('is refused for an item whose rows are not kept, and says so (20.2) [EACH-7]', async () => {
    const each = forEach('f', 'ys', [step('a'), task('b')], { concurrency: 2, retain_iterations: 1 });
    const { world } = await playOnce({
      blocks: pausable([each]),
      data: { ys: [1, 2, 3] },
      on: { b: byPass(reported(10), reported(20), reported(1000)) },
      events: [signal(500, 'pause')],
      untilMs: 600,
    });
    expect(await resumeNow(world, { block: 'b', iteration: 'f:0' })).toBe('not_retained');
  });

  it('begins a branch again that had won the race around the block and did not know it [OP-5]', async () => {
    const { world } = await playOnce({
      blocks: pausable([race('r', [[task('a')], [task('b')]])]),
      on: { a: reported(100), b: reported(1000) },
      events: [{ at: 25, claim: 'a' }, signal(50, 'pause')],
      untilMs: 200,
    });
    expect(await resumeNow(world, { block: 'b' })).toBeNull();
    const run = await goOn(world);
    expect(run.state).toBe('completed');
    expect(calledBy(run, 2)).toEqual(['a@', 'b@']);
    expect(run.outputs).toContain('a="done"');
  });
});

describe('going back to an item in an earlier pass', () => {
  const SERIAL = {
    concurrency: 1,
    on_item_failure: 'continue',
    tolerate: { count: 0 },
    retain_iterations: 1,
  };
  const SIDE_BY_SIDE = { concurrency: 2, retain_iterations: 1 };
  const FAILS_ONCE: Reaction = ({ runNo, iteration }) =>
    runNo === 1 && iteration.endsWith('f:2') ? fails('no') : ok();

  it.each([
    ['one after the other', SERIAL, ok()],
    ['side by side', SIDE_BY_SIDE, ok()],
    ['one after the other, up to one that failed', SERIAL, FAILS_ONCE],
    ['side by side, up to one that failed', SIDE_BY_SIDE, FAILS_ONCE],
  ])(
    'runs no item again that had ended, although its rows are not kept: %s [OP-6] [EACH-7]',
    async (...of) => {
      const [, extra, b] = of;
      const each = forEach('f', 'ys', [step('a'), step('b')], extra);
      const { world } = await playOnce({
        blocks: [loop('l', [each], { continue_on_error: true })],
        data: { ys: [1, 2, 3] },
        on: { b },
      });
      expect(await resumeNow(world, { block: 'b', iteration: 'l:0/f:2' })).toBeNull();
      const run = await goOn(world);
      expect(run.state).toBe('completed');
      expect(calledBy(run, 2).filter((name) => name.includes('l:0'))).toEqual(['b@l:0/f:2']);
    },
  );
});

describe('blocks that are injected while branches run side by side', () => {
  const injects = { check: (plan: Plan) => checkInjection(plan, [pure('late')], null) };
  const injecting = (takesMs: number): Answer => ({ ok: true, output: null, writes: [], takesMs, injects });

  it('leave the rest of a list that had failed for its retry [OP-1] [OP-10]', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('bad'), step('next')], [step('beside')]])],
      on: { bad: byRun(fails('no'), ok()), beside: injecting(100) },
      events: [retryAt(1000)],
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['bad', 'beside', 'bad', 'next', 'late']);
  });

  it('leave the trace of an attempt that is under way where it is [INT-2] [OP-12]', async () => {
    // The step beside asks a limit, so the intent of the other one is committed first, and its trace with it.
    const run = await play({
      blocks: [parallel('p', [[step('a')], [step('b', { rate_limit_key: 'mail' }), pure('m')]])],
      members: { interceptors: { before_step: { handler: 'effect:trace' } } },
      on: { a: ok(null, { takesMs: 1000 }), m: injecting(0) },
    });
    expect(run.state).toBe('completed');
    expect(run.rows.filter(({ blockId }) => blockId === '_interceptor:before:a')).toHaveLength(1);
  });
});
