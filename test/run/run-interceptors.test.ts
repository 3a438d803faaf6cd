import { describe, expect, it } from 'vitest';
import { child, gate, pure, sleep, step, task } from './support/blocks.ts';
import { play } from './support/play.ts';
import { answerAt, cancelAt, fails, ok, signal } from './support/script.ts';
import { members, traceOf } from './support/traces.ts';

describe('interceptors of the run', () => {
  it('leave a row for each processed signal, custom ones included [INT-3] [SIG-9]', async () => {
    const run = await play({
      blocks: [gate('g'), sleep('s', 500)],
      members: { interceptors: { on_signal: { handler: 'effect:trace', params: { by: 'me' } } } },
      events: [
        signal(10, 'custom:knock', { loud: true }),
        signal(10, 'custom:knock', { loud: true }),
        answerAt(20, 'g', { value: 'maybe' }),
        answerAt(30, 'g', { value: 'yes' }),
        signal(40, 'update_context', { data: { a: 1 } }),
        signal(50, 'pause'),
        signal(60, 'resume'),
      ],
    });
    expect(run.state).toBe('completed');
    const rows = run.rows.filter(({ blockId }) => blockId === '_interceptor:on_signal');
    expect(
      rows.map(({ output }) => (output as { _signal: { signal_type: unknown } })._signal.signal_type),
    ).toEqual([
      { custom: 'knock' },
      { custom: 'knock' },
      { custom: 'human_input:g' },
      { custom: 'human_input:g' },
      'update_context',
      'pause',
      'resume',
    ]);
    expect(rows[0]?.output).toEqual({
      by: 'me',
      _signal: { signal_type: { custom: 'knock' }, payload: { loud: true } },
    });
  });

  it('keep params that are no object beside the signal [INT-3]', async () => {
    const run = await play({
      blocks: [sleep('s', 100)],
      members: { interceptors: { on_signal: { handler: 'effect:trace', params: 'plain' } } },
      events: [signal(10, 'custom:knock')],
    });
    expect(run.rows[0]?.output).toEqual({
      _params: 'plain',
      _signal: { signal_type: { custom: 'knock' }, payload: null },
    });
  });

  it('trace an answer that came before its gate when it is used, once [INT-3] [HI-6]', async () => {
    const run = await play({
      blocks: [sleep('s', 100), gate('g')],
      members: { interceptors: { on_signal: { handler: 'effect:trace' } } },
      events: [answerAt(10, 'g', { value: 'yes' })],
    });
    expect(run.state).toBe('completed');
    expect(traceOf(run)).toEqual(['s', 'on_signal', 'g']);
  });

  it('leave a row before the run completes [INT-4] [INS-13]', async () => {
    const run = await play({
      blocks: [step('a')],
      members: { interceptors: { on_complete: { handler: 'effect:trace', params: [1] } } },
    });
    expect(traceOf(run)).toEqual(['a', 'on_complete']);
    expect(run.rows.at(-1)).toMatchObject({ output: [1], attempt: 0 });
  });

  it('leave a row after the hooks of a run that failed, and none after a cancel [INT-4] [INS-13]', async () => {
    const interceptors = {
      on_failure: { handler: 'effect:trace' },
      on_complete: { handler: 'effect:trace' },
    };
    const on = { x: fails('no') };
    const bare = await play({ blocks: [step('x')], members: { interceptors }, on });
    expect(traceOf(bare)).toEqual(['x', 'on_failure']);
    const hooked = await play({
      blocks: [step('x')],
      members: { interceptors, on_failure: [step('tidy')] },
      on,
    });
    expect(hooked.rows.map(({ blockId }) => blockId)).toEqual(['x', 'tidy', '_interceptor:on_failure']);
    const cancelled = await play({
      blocks: [sleep('s', 500)],
      members: { interceptors, on_cancel: [step('undo')] },
      events: [cancelAt(50)],
    });
    expect(traceOf(cancelled)).toEqual([]);
  });

  it('of a child are its own, and its parent reads them among its rows [SUB-7]', async () => {
    const run = await play({
      blocks: [child('c', 'inner')],
      sequences: { inner: { blocks: [step('a')], members } },
    });
    const rows = run.rows[0]?.output as readonly { readonly block_id: string }[];
    expect(rows.map((row) => row.block_id)).toEqual(['_interceptor:before:a', 'a', '_interceptor:after:a']);
    expect(traceOf(run)).toEqual(['c']);
  });
});

describe('interceptors that are really called', () => {
  const invoked = {
    interceptors: {
      before_step: {
        handler: 'effect:trace',
        invoke: true,
        params: {
          step: '{{step.id}}',
          by: '{{step.handler}}',
          try: '{{step.attempt}}',
          data: '{{data.step}}',
        },
      },
      after_step: {
        handler: 'effect:trace',
        invoke: true,
        params: { out: '{{outputs.a}}', run: '{{instance.id}}' },
      },
      on_signal: { handler: 'effect:broken', invoke: true, params: { of: '{{signal.type}}' } },
      on_complete: { handler: 'effect:trace', invoke: true, params: { last: '{{outputs.b}}' } },
    },
  };

  it('get resolved params, and their answer is the row [INT-5]', async () => {
    const run = await play({
      blocks: [step('a'), pure('b'), task('w'), sleep('s', 90)],
      members: invoked,
      data: { step: 'mine' },
      on: { a: ok('A'), b: ok('B'), w: ok('W', { takesMs: 10 }) },
      events: [signal(50, 'custom:knock', 7)],
    });
    expect(run.state).toBe('completed');
    const outputs = Object.fromEntries(run.rows.map(({ blockId, output }) => [blockId, output]));
    expect(outputs).toMatchObject({
      '_interceptor:before:a': { asked: { step: 'a', by: 'effect:a', try: 0, data: 'mine' } },
      '_interceptor:after:a': { asked: { out: 'A', run: run.instance.id } },
      '_interceptor:before:b': { asked: { step: 'b', by: 'pure:b', try: 0, data: 'mine' } },
      '_interceptor:before:w': { asked: { step: 'w', by: 'worker:w', try: 0, data: 'mine' } },
      '_interceptor:on_signal': { _interceptor_error: 'broken' },
      '_interceptor:on_complete': { asked: { last: 'B' } },
    });
    expect(traceOf(run).filter((text) => text !== 'on_signal')).toEqual([
      ...['<a', 'a', '>a', '<b', 'b', '>b', '<w', 'w', '>w', '<s', 's', '>s', 'on_complete'],
    ]);
  });

  it('hold a template error as their row and change nothing [INT-5]', async () => {
    const run = await play({
      blocks: [step('a')],
      members: {
        interceptors: { before_step: { handler: 'effect:trace', invoke: true, params: '{{signal.type}}' } },
      },
    });
    expect(run.state).toBe('completed');
    expect(run.outputs[0]).toContain('_interceptor_error');
  });

  it('are called after the hooks when the run failed [INT-4] [INT-5]', async () => {
    const run = await play({
      blocks: [step('x')],
      members: {
        interceptors: { on_failure: { handler: 'effect:trace', invoke: true, params: '{{outputs.tidy}}' } },
        on_failure: [step('tidy')],
      },
      on: { x: fails('no'), tidy: ok('tidied') },
    });
    expect(run.rows.map(({ blockId }) => blockId)).toEqual(['x', 'tidy', '_interceptor:on_failure']);
    expect(run.rows.at(-1)?.output).toEqual({ asked: 'tidied' });
    const alone = await play({
      blocks: [step('x')],
      members: { interceptors: { on_failure: { handler: 'effect:trace', invoke: true } } },
      on: { x: fails('no') },
    });
    expect(alone.rows.at(-1)).toMatchObject({ blockId: '_interceptor:on_failure', output: { asked: {} } });
  });
});
