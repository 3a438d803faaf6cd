import { describe, expect, it } from 'vitest';
import { gate, loop, parallel, sleep, step, tries, tryCatch } from './support/blocks.ts';
import { play, playOnce } from './support/play.ts';
import { answerAt, byAttempt, byRun, fails, ok, retryAt, retryably, signal } from './support/script.ts';

const dispositions = async (run: Awaited<ReturnType<typeof playOnce>>): Promise<number> =>
  (await run.world.store.getFrontier(null, run.instance.id))?.inbox.length ?? -1;

describe('human gate', () => {
  it('waits before the handler runs, with the instance waiting [HI-1]', async () => {
    const run = await play({ blocks: [gate('g')] });
    expect([run.state, run.called]).toEqual(['waiting', []]);
    expect(run.tree).toEqual({ g: 'waiting:input' });
    expect(run.instance).toMatchObject({ openWaits: 1, dueAt: null });
    expect(run.instance.currentStep).toMatchObject({ blockId: 'g', attempt: 0 });
  });

  it('writes its acceptance row, stores the value, then runs the handler [HI-2] [HI-4] [OUT-3]', async () => {
    const run = await play({
      blocks: [gate('g', {}, { params: { v: '{{data.g}}', row: '{{outputs.g.value}}' } })],
      events: [answerAt(100, 'g', { value: 'yes', comment: 'dropped' })],
    });
    expect(run.state).toBe('completed');
    expect(run.outputs).toEqual(['g={"value":"yes","_human_gate":true}', 'g={"from":"g"}']);
    expect(run.instance.data).toEqual({ g: 'yes' });
    expect(run.calls[0]?.params).toEqual({ v: 'yes', row: 'yes' });
  });

  it('stores under store_as only [HI-4]', async () => {
    const run = await play({
      blocks: [gate('g', { store_as: 'verdict', choices: [{ label: 'A', value: 'a' }] })],
      events: [answerAt(1, 'g', { value: 'a' })],
    });
    expect(run.instance.data).toEqual({ verdict: 'a' });
  });

  it('keeps a comment only when it is allowed, as text, cut at 4,000 characters [HI-3]', async () => {
    const row = async (comment: unknown, allow = true): Promise<unknown> =>
      (
        await play({
          blocks: [gate('g', { allow_comment: allow })],
          events: [answerAt(1, 'g', { value: 'no', comment: comment as never })],
        })
      ).rows[0]?.output;
    expect(await row('fine')).toEqual({ value: 'no', _human_gate: true, comment: 'fine' });
    expect(await row('fine', false)).toEqual({ value: 'no', _human_gate: true });
    expect(await row(7)).toEqual({ value: 'no', _human_gate: true });
    expect(await row('😀'.repeat(5000))).toEqual({
      value: 'no',
      _human_gate: true,
      comment: '😀'.repeat(4000),
    });
  });

  const wrong: readonly unknown[] = [
    { value: 'maybe' },
    { value: 'YES' },
    {},
    { approved: true },
    'yes',
    null,
    { value: true },
    { value: ['yes'] },
  ];
  for (const payload of wrong) {
    it(`consumes ${JSON.stringify(payload)} without effect and keeps waiting [HI-3]`, async () => {
      const run = await play({
        blocks: [gate('g')],
        events: [answerAt(10, 'g', payload as never)],
      });
      expect([run.state, run.outputs, run.instance.data]).toEqual(['waiting', [], {}]);
      expect(await dispositions(run)).toBe(0);
    });
  }

  it('consumes an answer to an unknown block or to one without a gate [HI-3] [HI-6]', async () => {
    const run = await play({
      blocks: [step('a'), gate('g')],
      events: [answerAt(10, 'nobody', { value: 'yes' }), answerAt(10, 'a', { value: 'yes' })],
    });
    expect(run.state).toBe('waiting');
    expect(await dispositions(run)).toBe(0);
  });

  it('keeps an answer that comes before the gate and uses it there [HI-6]', async () => {
    const run = await play({
      blocks: [sleep('s', 100), gate('g')],
      events: [answerAt(10, 'g', { value: 'yes' })],
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 100]);
    expect(await dispositions(run)).toBe(0);
  });

  it('uses the first early answer that fits; the others are consumed [HI-6]', async () => {
    const run = await play({
      blocks: [sleep('s', 100), gate('g'), sleep('s2', 100)],
      events: [
        answerAt(10, 'g', { value: 'huh' }),
        answerAt(20, 'g', { value: 'no' }),
        answerAt(30, 'g', { value: 'yes' }),
      ],
    });
    expect(run.instance.data).toEqual({ g: 'no' });
    expect(await dispositions(run)).toBe(0);
  });

  it('consumes an answer to a gate that is behind the run [HI-3]', async () => {
    const run = await play({
      blocks: [gate('g'), sleep('s', 100)],
      events: [answerAt(10, 'g', { value: 'yes' }), answerAt(50, 'g', { value: 'no' })],
      untilMs: 60,
    });
    expect(run.instance.data).toEqual({ g: 'yes' });
    expect(await dispositions(run)).toBe(0);
  });

  it('keeps an early answer for a gate in another branch, in a list to come, or in the next pass [HI-6]', async () => {
    const shapes = [
      [parallel('p', [[sleep('s', 100), gate('g')], [sleep('x', 10)]])],
      [tryCatch('t', [sleep('s', 100)], [], [gate('g')])],
      [sleep('s', 100), parallel('p', [[tryCatch('t', [gate('g')])], []])],
    ];
    for (const blocks of shapes) {
      const run = await play({ blocks, events: [answerAt(20, 'g', { value: 'yes' })] });
      expect([run.state, run.endedMs]).toEqual(['completed', 100]);
    }
    const again = await play({
      blocks: [loop('l', [gate('g'), sleep('s', 100)])],
      events: [answerAt(10, 'g', { value: 'yes' }), answerAt(50, 'g', { value: 'no' })],
    });
    expect([again.state, again.endedMs]).toEqual(['completed', 210]);
  });

  it('survives a crash or a retry of the handler without asking again [HI-5]', async () => {
    const run = await play({
      blocks: [gate('g', {}, tries(2, 100))],
      on: { g: byAttempt(retryably('busy'), ok('done')) },
      events: [answerAt(10, 'g', { value: 'yes' })],
    });
    expect([run.state, run.called, run.endedMs]).toEqual(['completed', ['g', 'g#1'], 110]);
  });

  it('stays accepted when the instance is retried, while a delay in front is served anew [HI-5] [DELAY-5]', async () => {
    const run = await play({
      blocks: [gate('g', {}, { delay: { duration: 100 } })],
      on: { g: byRun(fails('no'), ok('done')) },
      events: [answerAt(150, 'g', { value: 'yes' }), retryAt(500)],
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 600]);
    expect(run.outputs).toEqual(['g={"value":"yes","_human_gate":true}', 'g="done"']);
  });

  it('resolves its prompt when it opens and keeps it [HI-8]', async () => {
    const run = await play({
      blocks: [gate('g', { prompt: 'Pay {{data.n}}?' })],
      data: { n: 3 },
      events: [signal(10, 'update_context', { data: { n: 4 } })],
    });
    expect(run.frontier.frames[0]?.leaf?.gate?.prompt).toBe('Pay 3?');
    expect(
      (await play({ blocks: [gate('g', { prompt: '{{data}}' })], data: { n: 3 } })).frontier.frames[0]?.leaf
        ?.gate,
    ).toMatchObject({ prompt: '{"n":3}' });
  });

  it('fails permanently when its prompt cannot be resolved [TPL-3] [TPL-4]', async () => {
    const run = await play({ blocks: [gate('g', { prompt: '{{nowhere.x}}' })] });
    expect(run.instance.failure).toMatchObject({ error: { code: 'TEMPLATE_ERROR' } });
  });

  it('expires strictly after its timeout, failing the node catchably [HI-9] [HI-11]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [gate('g', { timeout: 1000 })], [step('c')])],
    });
    expect([run.state, run.endedMs, run.called]).toEqual(['completed', 1001, ['c']]);
    expect(run.instance.data).toMatchObject({ _error: { errors: [{ code: 'HUMAN_INPUT_TIMEOUT' }] } });
    const justInTime = await play({
      blocks: [gate('g', { timeout: 1000 })],
      events: [answerAt(1000, 'g', { value: 'yes' })],
    });
    expect(justInTime.state).toBe('completed');
  });

  it('completes with a marker when it escalates; its handler does not run [HI-10]', async () => {
    const run = await play({
      blocks: [gate('g', { timeout: 2500, escalation_handler: 'page_duty', store_as: 'x' }), step('z')],
    });
    expect([run.state, run.called]).toEqual(['completed', ['z']]);
    expect(run.outputs[0]).toBe(
      'g={"_escalated":true,"_escalation_handler":"page_duty","_timeout_seconds":2}',
    );
    expect(run.tree).toEqual({ g: 'completed', z: 'completed' });
    expect(run.instance.data).toEqual({});
    expect(run.world.escalations).toEqual([
      {
        handler: 'page_duty',
        params: {
          block_id: 'g',
          instance_id: run.instance.id,
          prompt: 'May g run?',
          choices: [
            { label: 'Yes', value: 'yes' },
            { label: 'No', value: 'no' },
          ],
          timeout_seconds: 2,
        },
      },
    ]);
  });

  it('takes its first choice at once in a dry run that approves by itself [DRY-2]', async () => {
    const waits = await play({ blocks: [gate('g')], dryRun: true });
    expect(waits.state).toBe('waiting');
    const run = await play({ blocks: [gate('g')], dryRun: true, dryRunAutoApprove: true });
    expect(run.state).toBe('completed');
    expect(run.instance.data).toEqual({ g: 'yes' });
  });

  it('consumes an answer that would make the context too large [CTX-1]', async () => {
    const value = 'x'.repeat(400);
    const run = await play({
      blocks: [gate('g', { choices: [{ label: 'X', value }] })],
      events: [answerAt(10, 'g', { value })],
      maxContextBytes: 300,
    });
    expect([run.state, run.instance.data]).toEqual(['waiting', {}]);
  });

  it('takes an answer while the run is paused and goes on after resume', async () => {
    const run = await play({
      blocks: [parallel('p', [[gate('g')], [step('a', { delay: { duration: 500 } })]])],
      events: [signal(10, 'pause'), answerAt(20, 'g', { value: 'yes' }), signal(100, 'resume')],
    });
    expect([run.state, run.called]).toEqual(['completed', ['g', 'a']]);
    expect(run.instance.data).toEqual({ g: 'yes' });
  });
});

describe('at most once', () => {
  const die = { crashes: 'before_commits' } as const;
  for (const [rule, state, called] of [
    ['retry', 'completed', [false, true]],
    ['fail', 'failed', [false]],
    ['ask', 'waiting', [false]],
  ] as const) {
    it(`with on_uncertain ${rule} a crash in the handler leads to ${state} (RULINGS B10)`, async () => {
      const run = await playOnce({ blocks: [step('a', { on_uncertain: rule })] }, die.crashes);
      expect([run.state, run.calls.map((call) => call.redelivery)]).toEqual([state, called]);
      expect(run.instance.failure?.error['code']).toBe(rule === 'fail' ? 'UNKNOWN_OUTCOME' : undefined);
    });
  }

  for (const [value, state, calls] of [
    ['done', 'completed', 1],
    ['not_done', 'completed', 2],
    ['failed', 'failed', 1],
  ] as const) {
    it(`takes the answer ${value} about an attempt with unknown outcome (RULINGS B10)`, async () => {
      const run = await playOnce(
        {
          blocks: [step('a', { on_uncertain: 'ask' })],
          events: [answerAt(100, 'a', { value, comment: 'seen' })],
        },
        die.crashes,
      );
      expect([run.state, run.calls.length]).toEqual([state, calls]);
      expect(run.instance.data).toEqual({});
      const failed = { blockId: 'a', error: { code: 'ATTEMPT_FAILED', message: 'seen', retryable: false } };
      expect(run.instance.failure).toEqual(value === 'failed' ? failed : null);
    });
  }

  it('keeps the key of an attempt with unknown outcome over a retry of the instance (RULINGS B1)', async () => {
    const run = await playOnce(
      { blocks: [step('a', { on_uncertain: 'fail' })], events: [retryAt(100)] },
      die.crashes,
    );
    expect(run.calls.length).toBe(2);
    expect(run.calls[1]?.idempotencyKey).toBe(run.calls[0]?.idempotencyKey);
    const definite = await playOnce({
      blocks: [step('a')],
      on: { a: byRun(fails('no'), ok()) },
      events: [retryAt(100)],
    });
    expect(definite.calls[1]?.idempotencyKey).not.toBe(definite.calls[0]?.idempotencyKey);
  });
});
