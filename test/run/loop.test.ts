import { describe, expect, it } from 'vitest';
import {
  forEach,
  loop,
  parallel,
  pure,
  router,
  sleep,
  split,
  step,
  tries,
  tryCatch,
} from './support/blocks.ts';
import { play } from './support/play.ts';
import { byAttempt, byPass, cancelAt, fails, ok, retryably, signal } from './support/script.ts';

const counters = (run: { readonly outputs: readonly string[] }, id: string): readonly string[] =>
  run.outputs.filter((text) => text.startsWith(`${id}=`) || text.startsWith(`${id}@`));

describe('loop', () => {
  it('completes at its cap, which is no failure, before the condition is asked [LOOP-1] [LOOP-5]', async () => {
    const run = await play({ blocks: [loop('l', [step('a')], { max_iterations: 3 }), step('z')] });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a@l:0', 'a@l:1', 'a@l:2', 'z']);
    expect(counters(run, 'l')).toEqual(['l={"_iterations":1}', 'l={"_iterations":2}', 'l={"_iterations":3}']);
  });

  it('never runs its body when the condition is falsy at once [LOOP-2] [LOOP-9]', async () => {
    const run = await play({
      blocks: [loop('l', [router('r', [['true', [step('a')]]])], { condition: 'data.go' })],
    });
    expect(run.state).toBe('completed');
    expect(run.tree).toEqual({ l: 'completed', r: 'skipped', a: 'skipped' });
    expect(run.outputs).toEqual([]);
  });

  it('asks its condition with outputs and context before each pass [LOOP-2] (D5)', async () => {
    const run = await play({
      blocks: [loop('l', [step('a')], { condition: 'outputs.a != 2', max_iterations: 9 })],
      on: { a: ({ iteration }) => ok(Number(iteration.slice(2))) },
    });
    expect(run.called).toEqual(['a@l:0', 'a@l:1', 'a@l:2']);
  });

  it('takes braces around the whole condition away [LOOP-11]', async () => {
    const run = await play({
      blocks: [loop('l', [step('a')], { condition: '{{ outputs.a != 1 }}', max_iterations: 9 })],
      on: { a: ({ iteration }) => ok(Number(iteration.slice(2))) },
    });
    expect(run.called).toEqual(['a@l:0', 'a@l:1']);
  });

  it('does not cut a pass when the condition turns false in the middle of it [LOOP-11] (D5)', async () => {
    const run = await play({
      blocks: [loop('l', [sleep('s', 100), step('a')], { condition: 'data.go', max_iterations: 9 })],
      data: { go: true },
      events: [signal(50, 'update_context', { data: { go: false } })],
    });
    expect(run.called).toEqual(['a@l:0']);
    expect(counters(run, 'l')).toEqual(['l={"_iterations":1}']);
  });

  it('fails when a pass fails and writes no counter row for it [LOOP-4]', async () => {
    const run = await play({
      blocks: [loop('l', [step('a'), step('b')], { max_iterations: 5 })],
      on: { a: byPass(ok(), fails('no')) },
    });
    expect(run.state).toBe('failed');
    expect(counters(run, 'l')).toEqual(['l={"_iterations":1}']);
    expect(run.tree).toEqual({ l: 'failed', a: 'failed', b: 'skipped' });
  });

  it('counts failed passes and goes on with continue_on_error [LOOP-5] [ERR-ROW-3]', async () => {
    const run = await play({
      blocks: [loop('l', [step('a'), step('b')], { continue_on_error: true, max_iterations: 3 })],
      on: { a: byPass(ok('0'), fails('no'), ok('2')) },
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a@l:0', 'b@l:0', 'a@l:1', 'a@l:2', 'b@l:2']);
    expect(counters(run, 'l').length).toBe(3);
    expect(run.rows.some((row) => row.kind === 'error')).toBe(false);
  });

  it('shows how the last pass ended, also when it failed and was absorbed [LOOP-9]', async () => {
    const run = await play({
      blocks: [loop('l', [step('a'), step('b')], { continue_on_error: true })],
      on: { a: byPass(ok(), fails('no')) },
    });
    expect(run.tree).toEqual({ l: 'completed', a: 'failed', b: 'skipped' });
  });

  it('breaks after the pass that made break_on true and counts it [LOOP-6] (D5)', async () => {
    const run = await play({
      blocks: [loop('l', [step('a')], { break_on: 'outputs.l._iterations == 2', max_iterations: 9 })],
    });
    expect(run.called).toEqual(['a@l:0', 'a@l:1']);
    expect(counters(run, 'l')).toEqual(['l={"_iterations":1}', 'l={"_iterations":2}']);
  });

  it('waits poll_interval seconds between passes but not after the last [LOOP-8]', async () => {
    const run = await play({ blocks: [loop('l', [step('a')], { poll_interval: 5, max_iterations: 3 })] });
    expect(run.endedMs).toBe(10_000);
    const first = await play({
      blocks: [loop('l', [step('a')], { poll_interval: 5, max_iterations: 3 })],
      untilMs: 100,
    });
    expect(first.state).toBe('scheduled');
    expect(first.instance.nextFireAt).toBe(first.world.startAt + 5000);
    expect(first.tree).toEqual({ l: 'waiting:poll', a: 'completed' });
  });

  it('shows the body of the last pass while it polls, with what that pass skipped [LOOP-8] [LOOP-9]', async () => {
    const run = await play({
      blocks: [
        loop('l', [step('a'), router('r', [['true', [step('b')]]])], {
          poll_interval: 5,
          continue_on_error: true,
        }),
      ],
      on: { a: fails('no') },
      untilMs: 100,
    });
    expect(run.tree).toEqual({ l: 'waiting:poll', a: 'failed', r: 'skipped', b: 'skipped' });
  });

  it('resets its body at the start of a pass [LOOP-3] [LOOP-9]', async () => {
    const run = await play({
      blocks: [loop('l', [step('a', tries(2)), sleep('s', 100), step('b')])],
      on: { a: byPass(ok('0'), retryably('busy')) },
      untilMs: 150,
    });
    expect(run.tree).toEqual({ l: 'running', a: 'waiting:retry', s: 'pending', b: 'pending' });
    expect(run.nodes.find((node) => node.blockId === 'a')).toMatchObject({ attempt: 1, iteration: 'l:1' });
    expect(run.nodes.find((node) => node.blockId === 'b')).toMatchObject({
      attempt: 0,
      iteration: 'l:1',
      startedAt: null,
      completedAt: null,
    });
  });

  it('removes counter and variant rows of inner blocks at each reset, result rows stay [LOOP-9] (chapter 10)', async () => {
    const run = await play({
      blocks: [
        loop('o', [
          loop('i', [step('a')]),
          split('v', [
            [1, [step('b')]],
            [0, []],
          ]),
          forEach('f', 'xs', [step('c')]),
        ]),
      ],
      data: { xs: [1] },
    });
    expect(run.outputs.filter((text) => /^[ivf]@/.test(text))).toEqual([
      'i@o:1={"_iterations":1}',
      'i@o:1={"_iterations":2}',
      'v@o:1={"variant":"v0","variant_index":0}',
      expect.stringContaining('f@o:1={"_index":0'),
      expect.stringContaining('f@o:1={"_index":1'),
    ]);
    expect(run.outputs.filter((text) => /^[abc]@/.test(text)).length).toBe(8);
  });

  it('does not see the counter of an inner loop of the pass before [LOOP-9] [OUT-5]', async () => {
    const seen = { params: { n: '{{outputs.i._iterations}}' } };
    const run = await play({
      blocks: [loop('o', [pure('a', seen), loop('i', [pure('b')]), pure('c', seen)])],
    });
    const params = run.calls.filter((call) => call.blockId !== 'b').map((call) => call.params);
    expect(params).toEqual([{ n: null }, { n: 2 }, { n: null }, { n: 2 }]);
  });

  it('shows the row of the pass before for a block that has not run yet in this pass [OUT-6]', async () => {
    const run = await play({
      blocks: [loop('o', [pure('a', { params: { b: '{{outputs.b}}' } }), pure('b')])],
      on: { b: ({ iteration }) => ok(iteration) },
    });
    const params = run.calls.filter((call) => call.blockId === 'a').map((call) => call.params);
    expect(params).toEqual([{ b: null }, { b: 'o:0' }]);
  });

  it('keeps the newest rows with retain_iterations, and the latest always [LOOP-7] [LOOP-10]', async () => {
    const run = await play({
      blocks: [loop('l', [step('a'), step('b')], { retain_iterations: 2, max_iterations: 5 })],
    });
    expect(run.outputs.filter((text) => /^[ab]@/.test(text)).map((text) => text.slice(0, 5))).toEqual([
      'a@l:3',
      'b@l:3',
      'a@l:4',
      'b@l:4',
    ]);
    const once = await play({
      blocks: [
        loop('l', [step('a', { when: 'outputs.l == null' }), step('b')], {
          retain_iterations: 1,
          max_iterations: 4,
        }),
        step('z', { params: { a: '{{outputs.a.from}}' } }),
      ],
    });
    expect(once.calls.at(-1)?.params).toEqual({ a: 'a' });
  });

  it('starts retries at attempt 0 in each pass (chapter 10)', async () => {
    const run = await play({
      blocks: [loop('l', [step('a', tries(2, 10))])],
      on: { a: byAttempt(retryably('busy'), ok()) },
    });
    expect(run.called).toEqual(['a@l:0', 'a@l:0#1', 'a@l:1', 'a@l:1#1']);
  });

  it('decides a router anew each pass (chapter 10)', async () => {
    const run = await play({
      blocks: [loop('l', [router('r', [['outputs.l._iterations == 1', [step('a')]]], [step('b')])])],
    });
    expect(run.called).toEqual(['b@l:0', 'a@l:1']);
    expect(run.tree).toEqual({ l: 'completed', r: 'completed', a: 'completed', b: 'skipped' });
  });

  it('is cancelled between passes and inside one [LOOP-4] [CAN-1]', async () => {
    const between = await play({
      blocks: [loop('l', [step('a')], { poll_interval: 5 }), step('z')],
      events: [cancelAt(1000)],
    });
    expect(between.tree).toEqual({ l: 'cancelled', a: 'completed', z: 'cancelled' });
    const inside = await play({
      blocks: [loop('l', [step('a'), sleep('s', 5000), step('b')]), step('z')],
      events: [cancelAt(6000)],
    });
    expect(inside.tree).toEqual({
      l: 'cancelled',
      a: 'completed',
      s: 'cancelled',
      b: 'cancelled',
      z: 'cancelled',
    });
    expect(inside.state).toBe('cancelled');
  });

  it('names passes of nested loops by their path [5.2]', async () => {
    const run = await play({ blocks: [loop('o', [loop('i', [step('a')])])] });
    expect(run.called).toEqual(['a@o:0/i:0', 'a@o:0/i:1', 'a@o:1/i:0', 'a@o:1/i:1']);
  });

  it('comes to rest in between when its passes need no handler', async () => {
    const run = await play({
      blocks: [loop('l', [step('a', { when: 'false' })], { max_iterations: 700 })],
    });
    expect(run.state).toBe('completed');
    expect(counters(run, 'l').length).toBe(700);
  });

  it('loops with empty composites in the body', async () => {
    const run = await play({
      blocks: [loop('l', [parallel('p', [[], []]), tryCatch('t', [parallel('q', [[]])])])],
    });
    expect(run.tree).toEqual({ l: 'completed', p: 'completed', t: 'completed', q: 'completed' });
  });
});
