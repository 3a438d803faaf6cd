import { describe, expect, it } from 'vitest';
import { loop, pure, sleep, step, task, tries } from './support/blocks.ts';
import { play } from './support/play.ts';
import { byAttempt, fails, ok, retryAt, retryably } from './support/script.ts';

const cached = (key: string) => ({ cache_key: key });

describe('result cache', () => {
  it('calls no handler on a hit, whichever block and handler kept the result [CACHE-1] [CACHE-2]', async () => {
    const run = await play({
      blocks: [
        step('a', cached('k')),
        sleep('s', 10),
        step('b', cached('k')),
        pure('c', cached('{{data.k}}')),
        step('d', cached('other')),
      ],
      data: { k: 'k' },
      on: { a: ok({ n: 1 }), b: ok('never') },
    });
    expect(run.called).toEqual(['a', 'd']);
    expect(run.outputs.filter((text) => !text.startsWith('s='))).toEqual([
      'a={"n":1}',
      'b={"n":1}',
      'c={"n":1}',
      'd={"from":"d"}',
    ]);
    expect(run.instance.totalSteps).toBe(3);
  });

  it('hits within one turn before anything is committed [CACHE-3]', async () => {
    const run = await play({ blocks: [pure('a', cached('k')), pure('b', cached('k'))] });
    expect(run.called).toEqual(['a']);
  });

  for (const [value, calls] of [
    ['null', 2],
    ['""', 2],
    ['{"b":1,"a":[2]}', 1],
    ['7', 1],
    ['false', 1],
  ] as const) {
    it(`calls ${calls} times when the key is ${value} [CACHE-1]`, async () => {
      const run = await play({
        blocks: [step('a', cached('{{data.k}}')), step('b', cached('{{data.k}}'))],
        data: { k: JSON.parse(value) },
      });
      expect(run.calls.length).toBe(calls);
    });
  }

  it('writes other JSON canonically [CACHE-1]', async () => {
    const run = await play({
      blocks: [step('a', cached('{{data.k}}')), step('b', cached('{"a":1,"b":2}'))],
      data: { k: { b: 2, a: 1 } },
    });
    expect(run.called).toEqual(['a']);
  });

  it('does not keep failures, and resolves the key before each attempt [CACHE-3]', async () => {
    const run = await play({
      blocks: [
        step('a', { ...cached('{{outputs.l._iterations}}'), ...tries(2, 10) }),
        step('b', cached('k')),
      ],
      on: { a: byAttempt(retryably('x'), ok(1)), b: fails('no') },
      events: [retryAt(100)],
    });
    expect(run.called).toEqual(['a', 'a#1', 'b', 'b']);
  });

  it('keeps the result of a worker, and merges nothing on a hit [CACHE-3] [DISP-3]', async () => {
    const run = await play({
      blocks: [task('a', cached('k')), pure('x'), task('b', cached('k'))],
      on: { a: ok({ n: 1 }) },
      events: [{ at: 5, patch: { data: {} } }],
    });
    expect([run.state, run.called]).toEqual(['completed', ['a', 'x']]);
  });

  it('checks a cached result against the schema of the step [SCHEMA-1]', async () => {
    const run = await play({
      blocks: [step('a', cached('k')), step('b', { ...cached('k'), output_schema: { type: 'string' } })],
      on: { a: ok(1) },
    });
    expect(run.instance.failure).toMatchObject({
      blockId: 'b',
      error: { code: 'OUTPUT_CONTRACT_VIOLATION' },
    });
  });

  it('is not visible to texts (8.9)', async () => {
    const run = await play({
      blocks: [
        step('a', cached('k')),
        sleep('s', 10),
        step('b', { params: { all: '{{state}}', one: '{{state.x}}' } }),
      ],
      on: { a: ok(1, { writes: [{ key: 'x', value: 2 }] }) },
    });
    expect(run.calls.at(-1)?.params).toEqual({ all: { x: 2 }, one: 2 });
  });

  it('lives through passes and a retry of the instance [CACHE-3]', async () => {
    const run = await play({
      blocks: [loop('l', [step('a', cached('k'))], { max_iterations: 3 }), step('x')],
      on: { x: ({ runNo }) => (runNo === 1 ? fails('no') : ok()) },
      events: [retryAt(100)],
    });
    expect(run.called).toEqual(['a@l:0', 'x', 'x']);
    expect(run.rows.filter((row) => row.blockId === 'a').length).toBe(3);
  });

  it('fails permanently on a template error in its key [TPL-3] [TPL-4]', async () => {
    const run = await play({ blocks: [step('a', cached('{{nowhere.x}}'))] });
    expect(run.instance.failure).toMatchObject({ error: { code: 'TEMPLATE_ERROR' } });
  });

  it('keeps a sleep too', async () => {
    const run = await play({ blocks: [sleep('a', 500, cached('k')), sleep('b', 900, cached('k'))] });
    expect(run.endedMs).toBe(500);
  });
});
