import { describe, expect, it } from 'vitest';
import { pure, sleep, step, tries, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { byAttempt, ok, retryably, signal } from './support/script.ts';

const failure = (run: { readonly instance: { readonly failure: unknown } }): unknown => run.instance.failure;

describe('guard', () => {
  it('sees the whole context although context_access hides it [WHEN-1]', async () => {
    const run = await play({
      blocks: [
        step('a', { when: 'data.x == 1 && config.y == 2', context_access: { data: false, config: false } }),
      ],
      data: { x: 1 },
      config: { y: 2 },
    });
    expect(run.called).toEqual(['a']);
  });

  for (const when of ['', '   ', 'data.missing', 'false', '0', "''", 'null']) {
    it(`skips on ${JSON.stringify(when)}: no row, no attempt [WHEN-2] [WHEN-4]`, async () => {
      const run = await play({ blocks: [step('a', { when, ...tries(3) })] });
      expect(run.state).toBe('completed');
      expect([run.called, run.outputs]).toEqual([[], []]);
      expect(run.tree).toEqual({ a: 'skipped' });
      expect(run.instance.totalSteps).toBe(0);
    });
  }

  it('fails permanently on a text that does not parse, and can be caught [WHEN-3]', async () => {
    const run = await play({ blocks: [tryCatch('t', [step('a', { when: 'data.x ==', ...tries(3) })])] });
    expect(run.called).toEqual([]);
    expect(run.instance.data).toMatchObject({
      _error: { errors: [{ block_id: 'a', code: 'EXPRESSION_ERROR' }] },
    });
  });

  it('is judged once per pass, before the delay [WHEN-1] 8.1', async () => {
    const run = await play({
      blocks: [step('a', { when: 'data.go', delay: { duration: 100 } })],
      data: { go: true },
      events: [signal(50, 'update_context', { data: { go: false } })],
    });
    expect(run.called).toEqual(['a']);
  });
});

describe('delay', () => {
  it('waits for its duration, once, as a scheduled instance [DELAY-1] [DELAY-6]', async () => {
    const blocks = [sleep('s', 1000), step('a', { delay: { duration: 500 } })];
    const waiting = await play({ blocks, untilMs: 1200 });
    expect(waiting.state).toBe('scheduled');
    expect(waiting.instance.nextFireAt).toBe(waiting.world.startAt + 1500);
    expect(waiting.tree['a']).toBe('waiting:delay');
    const run = await play({ blocks });
    expect(run.endedMs).toBe(1500);
  });

  it('is served once: pause, resume and retries of the attempt do not start it again [DELAY-5]', async () => {
    const run = await play({
      blocks: [step('a', { delay: { duration: 500 }, ...tries(2, 100) })],
      on: { a: byAttempt(retryably('busy'), ok()) },
      events: [signal(100, 'pause'), signal(200, 'resume')],
    });
    expect(run.called).toEqual(['a', 'a#1']);
    expect(run.endedMs).toBe(600);
  });

  it('adds a jitter in [-jitter, +jitter] that never reaches before the base [DELAY-3] [DELAY-4]', async () => {
    const at = async (random: number, duration: number, jitter: number): Promise<number> =>
      (
        await play({
          blocks: [step('a', { delay: { duration, jitter } })],
          random: () => random,
        })
      ).endedMs;
    expect(await at(0, 1000, 300)).toBe(700);
    expect(await at(0.5, 1000, 300)).toBe(1000);
    expect(await at(0.999_999, 1000, 300)).toBe(1300);
    expect(await at(0, 100, 300)).toBe(0);
  });

  it('is due at once with duration 0', async () => {
    const run = await play({ blocks: [step('a', { delay: { duration: 0 } })] });
    expect([run.endedMs, run.called]).toEqual([0, ['a']]);
  });
});

describe('templates', () => {
  it('resolves params before every attempt against the context of that moment [TPL-1]', async () => {
    const run = await play({
      blocks: [step('a', { params: { '{{k}}': '{{data.x}}' }, ...tries(2, 100) })],
      data: { x: 1 },
      on: { a: byAttempt(retryably('busy'), ok()) },
      events: [signal(50, 'update_context', { data: { x: 2 } })],
    });
    expect(run.calls.map((call) => call.params)).toEqual([{ '{{k}}': 1 }, { '{{k}}': 2 }]);
  });

  it('fails permanently on a template error without asking the retry policy [TPL-3]', async () => {
    const run = await play({ blocks: [step('a', { params: { x: '{{nowhere.x}}' }, ...tries(3) })] });
    expect(failure(run)).toMatchObject({ blockId: 'a', error: { code: 'TEMPLATE_ERROR', retryable: false } });
    expect(run.called).toEqual([]);
  });

  it('counts absent params as an empty object', async () => {
    const run = await play({ blocks: [step('a')] });
    expect(run.calls[0]?.params).toEqual({});
  });

  it('reads outputs of earlier turns and of uncommitted pure steps, the latest row of each [OUT-5]', async () => {
    const seen = { params: { a: '{{outputs.a}}', b: '{{outputs.b}}', all: '{{outputs}}' } };
    const run = await play({
      blocks: [
        step('a'),
        sleep('s', 100),
        pure('b'),
        pure('c', seen),
        pure('d', { params: { x: '{{steps.c}}' } }),
      ],
      on: { a: ok(1), b: ok(2), c: ok(3) },
    });
    expect(run.calls.filter((call) => call.blockId === 'c').map((call) => call.params)).toEqual([
      { a: 1, b: 2, all: { a: 1, s: { slept_ms: 100 }, b: 2 } },
    ]);
    expect(run.calls.at(-1)?.params).toEqual({ x: 3 });
  });

  it('reads the key/value store with the writes of steps before, committed or not', async () => {
    const run = await play({
      blocks: [
        step('w'),
        sleep('s', 10),
        pure('v'),
        pure('a', { params: { n: '{{state.n}}', m: '{{state.m}}' } }),
      ],
      on: {
        w: ok(null, {
          writes: [
            { key: 'n', value: 1 },
            { key: 'm', value: 2 },
          ],
        }),
        v: ok(null, { writes: [{ key: 'n' }] }),
      },
    });
    expect(run.calls.at(-1)?.params).toEqual({ n: null, m: 2 });
  });
});
