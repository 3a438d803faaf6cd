import { describe, expect, it } from 'vitest';
import {
  child,
  forEach,
  loop,
  parallel,
  pure,
  scope,
  sleep,
  step,
  task,
  tryCatch,
} from './support/blocks.ts';
import { type Played, play } from './support/play.ts';
import { byRun, cancelAt, fails, ok, retryAt } from './support/script.ts';

const CLEANUP = [step('tidy'), step('tell')];
const on = { x: fails('no', { code: 'NO_STOCK', details: { left: 0 } }) };

const rowsOf = (run: Played, ...ids: readonly string[]) =>
  run.rows
    .filter((row) => ids.includes(row.blockId))
    .map((row) => [row.blockId, row.kind, row.runNo, row.output] as const);

describe('cleanup hooks', () => {
  it('run in order after the end, and leave one row each under their ids [HOOK-1] [HOOK-3] [INS-13]', async () => {
    const run = await play({ blocks: [step('a'), step('x')], members: { on_failure: CLEANUP }, on });
    expect(run.state).toBe('failed');
    expect(run.called).toEqual(['a', 'x', 'tidy', 'tell']);
    expect(run.rows.map((row) => row.blockId)).toEqual(['a', 'x', 'tidy', 'tell']);
    expect(run.instance).toMatchObject({ dueAt: null, openWaits: 0 });
    expect(run.instance.hooks ?? null).toBeNull();
  });

  it('do not run after a run that completed, and on_failure not after a cancel [HOOK-1]', async () => {
    const members = { on_failure: [step('tidy')], on_cancel: [step('undo')] };
    const good = await play({ blocks: [step('a')], members });
    expect(good.called).toEqual(['a']);
    const cancelled = await play({ blocks: [sleep('s', 500)], members, events: [cancelAt(50)] });
    expect([cancelled.state, cancelled.called]).toEqual(['cancelled', ['undo']]);
  });

  it('go on after a hook that failed, whose row is an error row [HOOK-1] [HOOK-3]', async () => {
    const run = await play({
      blocks: [step('x')],
      members: { on_failure: CLEANUP },
      on: { ...on, tidy: fails('stuck', { code: 'STUCK' }) },
    });
    expect(run.state).toBe('failed');
    expect(rowsOf(run, 'tidy', 'tell').map(([id, kind]) => [id, kind])).toEqual([
      ['tidy', 'hook_error'],
      ['tell', 'hook'],
    ]);
    expect(run.rows[1]?.output).toEqual({
      __error__: true,
      retryable: false,
      message: 'stuck',
      code: 'STUCK',
    });
    expect(run.instance.failure?.blockId).toBe('x');
  });

  it('see what failed as data._error and as outputs [CERR-4] [OUT-5]', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('x')], [step('y')]])],
      members: {
        on_failure: [
          step('tell', {
            params: { error: '{{data._error}}', text: '{{outputs.x.message}}', more: '{{outputs.tidy}}' },
          }),
          step('last', { params: { before: '{{outputs.tell.from}}' } }),
        ],
      },
      on: { ...on, y: fails('nor here') },
    });
    expect(run.calls.find(({ blockId }) => blockId === 'tell')?.params).toEqual({
      error: {
        failed_blocks: ['p'],
        source: 'instance',
        block_id: null,
        errors: [
          { block_id: 'x', message: 'no', code: 'NO_STOCK', details: { left: 0 } },
          { block_id: 'y', message: 'nor here' },
        ],
      },
      text: 'no',
      more: null,
    });
    expect(run.calls.find(({ blockId }) => blockId === 'last')?.params).toEqual({ before: 'tell' });
    // The object is for the hooks only: nothing is written to the context.
    expect(run.instance.data).toEqual({});
  });

  it('of on_cancel read _error as it is stored [CERR-4]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('x')], [step('c')]), sleep('s', 500)],
      members: { on_cancel: [step('tell', { params: { source: '{{data._error.source}}' } })] },
      on,
      events: [cancelAt(50)],
    });
    expect(run.calls.at(-1)?.params).toEqual({ source: 'try_catch' });
  });

  it('honour when and context_access, and pass over what is no step [HOOK-2]', async () => {
    const run = await play({
      blocks: [step('x')],
      data: { a: 1, b: 2 },
      members: {
        on_failure: [
          parallel('p', [[step('inner')]]),
          step('never', { when: 'data.a == 2' }),
          step('seen', {
            when: 'data._error.source == "instance"',
            context_access: { data: { fields: ['b'] } },
          }),
          step('broken', { when: '1 +' }),
          step('wrong', { params: { text: '{{nobody.here}}' } }),
          step('patient', {
            delay: { duration: 500 },
            wait_for_input: { prompt: 'Go?' },
            retry: { max_attempts: 3, initial_backoff: 1, max_backoff: 1 },
          }),
        ],
      },
      on: { ...on, patient: fails('busy', { retryable: true }) },
    });
    expect(run.called).toEqual(['x', 'seen', 'patient']);
    expect(run.calls[1]?.context.data).toEqual({ b: 2 });
    expect(rowsOf(run, 'p', 'never', 'broken', 'wrong', 'patient').map(([id, kind]) => [id, kind])).toEqual([
      ['broken', 'hook_error'],
      ['wrong', 'hook_error'],
      ['patient', 'hook_error'],
    ]);
    const codes = run.rows.map(({ output }) => (output as { code?: string }).code);
    expect(codes).toEqual(['NO_STOCK', undefined, 'EXPRESSION_ERROR', 'TEMPLATE_ERROR', undefined]);
    expect(run.endedMs).toBe(0);
  });

  it('are cut off by their timeout, which is 30 s by default [HOOK-2]', async () => {
    const run = await play({
      blocks: [step('x')],
      members: { on_failure: [step('slow', { timeout: 50 }), step('slower')] },
      on: { ...on, slow: ok(1, { takesMs: 100 }), slower: ok(1, { takesMs: 40_000 }) },
    });
    expect(rowsOf(run, 'slow', 'slower').map(([id, kind]) => [id, kind])).toEqual([
      ['slow', 'hook_error'],
      ['slower', 'hook_error'],
    ]);
  });

  it('may have the ids of blocks: their rows and their keys stand beside those [HOOK-3] [IDEM-1]', async () => {
    const run = await play({
      blocks: [step('a'), step('x')],
      members: { on_failure: [step('a'), step('x')] },
      on: { x: byRun(fails('no')) },
    });
    expect(run.state).toBe('failed');
    expect(run.rows.map((row) => [row.blockId, row.kind])).toEqual([
      ['a', 'result'],
      ['x', 'error'],
      ['a', 'hook'],
      ['x', 'hook_error'],
    ]);
    expect(new Set(run.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(4);
  });

  it('run again when the run is retried and fails again; errors of the first time are gone [HOOK-1] [OP-2]', async () => {
    const run = await play({
      blocks: [step('x')],
      members: { on_failure: CLEANUP },
      on: { x: fails('no'), tidy: byRun(fails('stuck'), ok('tidied')) },
      events: [retryAt(100)],
    });
    expect(run.called).toEqual(['x', 'tidy', 'tell', 'x', 'tidy', 'tell']);
    expect(rowsOf(run, 'tidy', 'tell').map(([id, kind, runNo]) => [id, kind, runNo])).toEqual([
      ['tell', 'hook', 1],
      ['tidy', 'hook', 2],
      ['tell', 'hook', 2],
    ]);
    expect(new Set(run.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(6);
  });

  it('of a worker are stored when the worker reports; nobody waits for them [HOOK-2]', async () => {
    const run = await play({
      blocks: [step('x')],
      members: { on_failure: [task('hand'), step('tell'), task('late')] },
      on: { ...on, hand: ok({ sent: true }, { takesMs: 700 }), late: fails('no way', { takesMs: 300 }) },
    });
    expect(run.calls.map(({ blockId }) => blockId)).toEqual(['x', 'tell', 'hand', 'late']);
    expect(rowsOf(run, 'hand', 'tell', 'late').map(([id, kind]) => [id, kind])).toEqual([
      ['tell', 'hook'],
      ['late', 'hook_error'],
      ['hand', 'hook'],
    ]);
    expect(run).toMatchObject({ state: 'failed', instance: { dueAt: null, openWaits: 0 } });
    // Results of hooks are not merged into the context.
    expect(run.instance.data).toEqual({});
  });

  it('of a worker keep their task through a retry, and its row belongs to the end that asked for it', async () => {
    const run = await play({
      blocks: [step('x')],
      members: { on_failure: [task('hand')] },
      on: { x: byRun(fails('no'), ok('fine')), hand: ok({ sent: true }, { takesMs: 700 }) },
      events: [retryAt(100)],
    });
    expect(run.state).toBe('completed');
    expect(rowsOf(run, 'hand')).toEqual([['hand', 'hook', 1, { sent: true }]]);
    expect(run.instance).toMatchObject({ dueAt: null, openWaits: 0 });
    expect(run.instance.hooks ?? null).toBeNull();
  });

  it('of a worker that never reports leave the end as it is', async () => {
    const run = await play({ blocks: [step('x')], members: { on_failure: [task('hand')] }, on });
    expect(run).toMatchObject({ state: 'failed', instance: { dueAt: null, openWaits: 1 } });
    expect(run.frontier.openTasks).toHaveLength(1);
  });

  it('run after an operator has cancelled the run at once [CAN-7] [HOOK-1]', async () => {
    const run = await play({
      blocks: [scope('keep', [sleep('s', 900)])],
      members: { on_cancel: [step('undo'), pure('note')] },
      events: [{ at: 50, operate: 'cancel' }],
    });
    expect([run.state, run.called]).toEqual(['cancelled', ['undo', 'note']]);
  });

  it('run after a cancel has drained, never before [CAN-3] [HOOK-1]', async () => {
    const run = await play({
      blocks: [scope('keep', [sleep('s', 900), step('kept')])],
      members: { on_cancel: [step('undo')] },
      events: [cancelAt(50)],
    });
    expect([run.state, run.called]).toEqual(['cancelled', ['kept', 'undo']]);
  });

  it('of a child run beside its parent, which goes on at once [HOOK-1] [SUB-8]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [child('c', 'inner')], [step('caught')]), step('after')],
      sequences: { inner: { blocks: [step('x')], members: { on_failure: [step('tidy'), step('tell')] } } },
      members: { on_failure: [step('never')] },
      on,
    });
    expect(run.state).toBe('completed');
    const children = (await run.world.store.listChildren(null, run.instance.id)) ?? [];
    expect(children).toMatchObject([{ state: 'failed', dueAt: null, openWaits: 0 }]);
    expect(run.called.filter((id) => id === 'tidy' || id === 'tell')).toEqual(['tidy', 'tell']);
  });

  it('of parent and child both run when the failure goes up [HOOK-1] [NEST-1]', async () => {
    const run = await play({
      blocks: [loop('l', [parallel('p', [[child('c', 'inner', { input: { xs: [1] } })], [step('b')]])])],
      sequences: {
        inner: { blocks: [forEach('f', 'xs', [step('x')])], members: { on_failure: [step('tidy')] } },
      },
      members: { on_failure: [step('tell')] },
      data: {},
      on,
    });
    expect(run.state).toBe('failed');
    expect(run.called.filter((id) => id === 'tidy' || id === 'tell')).toHaveLength(2);
  });

  it('sleep as steps do, within their timeout [HOOK-2]', async () => {
    const run = await play({
      blocks: [step('x')],
      members: { on_failure: [sleep('nap', 2_000), sleep('long', 90_000, { timeout: 500 }), step('tell')] },
      on,
    });
    expect(run.endedMs).toBe(2_500);
    expect(rowsOf(run, 'nap', 'long', 'tell').map(([, kind]) => kind)).toEqual(['hook', 'hook', 'hook']);
  });

  it('whose handler another build has wait for it [HOOK-2] (RULINGS B8)', async () => {
    const run = await play({
      blocks: [step('x')],
      members: { on_failure: [step('h', { handler: 'away:7000:effect:h' }), step('tell')] },
      on,
    });
    expect(run.called).toEqual(['x', 'h', 'tell']);
    expect(run.endedMs).toBe(10_000);
  });

  it('cannot be called when no process has their handler: an error row [HOOK-2]', async () => {
    const run = await play({
      blocks: [step('x')],
      members: { on_failure: [step('h', { handler: 'gone:h' }), step('tell')] },
      on,
    });
    expect(run.outputs[1]).toContain('HANDLER_NOT_AVAILABLE');
    expect(run.called).toEqual(['x', 'tell']);
  });
});
