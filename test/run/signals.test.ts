import { describe, expect, it } from 'vitest';
import { parallel, sleep, step, task } from './support/blocks.ts';
import { play, playOnce } from './support/play.ts';
import { cancelAt, ok, reportAt, signal } from './support/script.ts';

describe('pause and resume', () => {
  it('pauses a scheduled run; its timers do not move it until it is resumed [SIG-5] 16', async () => {
    const blocks = [step('a', { delay: { duration: 100 } })];
    const paused = await play({ blocks, events: [signal(50, 'pause')] });
    expect([paused.state, paused.called, paused.endedMs]).toEqual(['paused', [], 50]);
    expect(paused.instance).toMatchObject({ dueAt: null, nextFireAt: null });
    const run = await play({ blocks, events: [signal(50, 'pause'), signal(500, 'resume')] });
    expect([run.state, run.endedMs]).toEqual(['completed', 500]);
  });

  it('commits a running leaf before the pause takes effect; no other starts [TURN-2]', async () => {
    const scenario = {
      blocks: [step('a'), step('b')],
      on: { a: ok('done', { takesMs: 500 }) },
      events: [signal(100, 'pause')],
    };
    const run = await playOnce(scenario);
    expect([run.state, run.called]).toEqual(['paused', ['a']]);
    expect(run.tree).toEqual({ a: 'completed', b: 'pending' });
    // A crash meanwhile leaves the leaf running in the paused instance; it is delivered again after resume.
    const resumed = await play({ ...scenario, events: [...scenario.events, signal(300, 'resume')] });
    expect([resumed.state, resumed.endedMs]).toEqual(['completed', 500]);
  });

  it('does not pause a waiting instance 16', async () => {
    const run = await play({ blocks: [task('w')], events: [signal(10, 'pause')] });
    expect(run.state).toBe('waiting');
  });

  it('has no effect to resume what is not paused 16', async () => {
    const run = await play({
      blocks: [step('a', { delay: { duration: 900 } })],
      events: [signal(10, 'resume')],
      untilMs: 50,
    });
    expect(run.state).toBe('scheduled');
    expect(run.instance.nextFireAt).toBe(run.world.startAt + 900);
  });

  it('lets the last of pause and resume win [SIG-6]', async () => {
    const both = await play({
      blocks: [step('a', { delay: { duration: 100 } })],
      events: [signal(10, 'pause'), signal(10, 'resume')],
    });
    expect([both.state, both.endedMs]).toEqual(['completed', 100]);
    const other = await play({
      blocks: [step('a', { delay: { duration: 100 } })],
      events: [signal(10, 'resume'), signal(10, 'pause')],
    });
    expect(other.state).toBe('paused');
  });

  it('leaves the visible state alone when a signal has no effect [TURN-1]', async () => {
    const run = await playOnce({
      blocks: [task('w')],
      events: [signal(10, 'resume'), signal(20, 'custom:other'), signal(30, 'pause')],
    });
    const audit = (await run.world.store.listAudit(null, run.instance.id, 100)) ?? [];
    expect(audit.map((row) => `${row.fromState} ${row.toState}`)).toEqual(['running waiting']);
  });
});

describe('update_context', () => {
  it('merges keys one by one, in order [SIG-7] [CTX-4]', async () => {
    const run = await play({
      blocks: [sleep('s', 100)],
      data: { keep: 1, deep: { x: 1 } },
      events: [
        signal(10, 'update_context', { data: { a: 1 } }),
        signal(10, 'update_context', { data: { a: 2, b: 3, deep: { y: 1 } }, config: { no: 1 } }),
      ],
    });
    expect(run.instance.data).toEqual({ keep: 1, a: 2, b: 3, deep: { y: 1 } });
    expect(run.instance.config).toEqual({});
  });

  for (const payload of [null, 'x', {}, { data: 'x' }, { data: [1] }, { config: { a: 1 } }]) {
    it(`consumes ${JSON.stringify(payload)} without effect 16`, async () => {
      const run = await play({
        blocks: [sleep('s', 100)],
        data: { a: 1 },
        events: [signal(10, 'update_context', payload)],
      });
      expect(run.instance.data).toEqual({ a: 1 });
    });
  }

  it('consumes one that would make the context too large [CTX-1]', async () => {
    const run = await play({
      blocks: [sleep('s', 100)],
      events: [signal(10, 'update_context', { data: { a: 'x'.repeat(500) } })],
      maxContextBytes: 300,
    });
    expect(run.instance.data).toEqual({});
  });

  it('is seen by the next step on a run that sleeps [SIG-5]', async () => {
    const run = await play({
      blocks: [sleep('s', 1000), step('a', { params: { v: '{{data.v}}' } })],
      events: [signal(10, 'update_context', { data: { v: 2 } })],
    });
    expect(run.calls[0]?.params).toEqual({ v: 2 });
    expect(run.endedMs).toBe(1000);
  });

  it('keeps a key named __proto__ an ordinary key', async () => {
    const run = await play({
      blocks: [sleep('s', 100)],
      events: [signal(10, 'update_context', JSON.parse('{"data":{"__proto__":{"x":1}}}'))],
    });
    expect(JSON.stringify(run.instance.data)).toBe('{"__proto__":{"x":1}}');
  });
});

describe('context patches', () => {
  it('replace the given sections as a whole; the others stay [CTX-3] (D15)', async () => {
    const run = await play({
      blocks: [sleep('s', 100)],
      data: { a: 1, b: 2 },
      config: { k: 1 },
      audit: [{ e: 1 }],
      events: [{ at: 10, patch: { data: { c: null } } }],
    });
    expect(run.instance).toMatchObject({ data: { c: null }, config: { k: 1 }, audit: [{ e: 1 }] });
  });

  it('replace config and audit, and merge with mode merge [CTX-3] [CTX-4]', async () => {
    const run = await play({
      blocks: [sleep('s', 100)],
      data: { a: { x: 1 } },
      config: { k: 1 },
      events: [
        { at: 10, patch: { config: { n: 1 }, audit: [{ e: 2 }] } },
        { at: 20, patch: { data: { a: { y: 1 }, b: 1 }, config: { m: 1 } }, mode: 'merge' },
      ],
    });
    expect(run.instance).toMatchObject({ config: { n: 1, m: 1 }, audit: [{ e: 2 }] });
    expect(run.instance.data).toEqual({ a: { y: 1 }, b: 1 });
  });

  it('take effect before the next leaf starts while a turn runs [CTX-3]', async () => {
    const run = await play({
      blocks: [step('a'), step('b', { params: { v: '{{data.v}}' } })],
      on: { a: ok(null, { takesMs: 100 }) },
      events: [{ at: 50, patch: { data: { v: 9 } } }],
    });
    expect(run.calls.at(-1)?.params).toEqual({ v: 9 });
  });
});

describe('order of facts', () => {
  it('processes signals in the order of acceptance, each once [SIG-3]', async () => {
    const run = await play({
      blocks: [sleep('s', 100)],
      events: [1, 2, 3, 4].map((n) => signal(10, 'update_context', { data: { n, [`k${n}`]: n } })),
    });
    expect(run.instance.data).toEqual({ n: 4, k1: 1, k2: 2, k3: 3, k4: 4 });
  });

  it('marks what is queued behind a cancel that ended the run as expired [SIG-8]', async () => {
    const run = await play({
      blocks: [task('w')],
      events: [cancelAt(10), signal(10, 'update_context', { data: { a: 1 } })],
    });
    expect(run.state).toBe('cancelled');
    expect(run.frontier.inbox).toEqual([]);
  });

  it('processes what is pending before a terminal transition [SIG-4]', async () => {
    const run = await play({
      blocks: [step('a')],
      on: { a: ok(null, { takesMs: 100 }) },
      events: [signal(100, 'update_context', { data: { late: 1 } })],
    });
    expect([run.state, run.instance.data]).toEqual(['completed', { late: 1 }]);
  });

  it('takes results of several workers that arrived together', async () => {
    const run = await play({
      blocks: [
        parallel('p', [
          [task('a'), step('x')],
          [task('b'), step('y')],
        ]),
      ],
      events: [reportAt(10, 'a', ok({ a: 1 })), reportAt(10, 'b', ok({ b: 1 }))],
    });
    expect([run.state, run.instance.data]).toEqual(['completed', { a: 1, b: 1 }]);
  });
});
