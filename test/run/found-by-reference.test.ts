import { describe, expect, it } from 'vitest';
import { gate, loop, parallel, race, saga, scope, sleep, step, task, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { byPass, byRun, cancelAt, fails, ok, retryAt } from './support/script.ts';

/** Smallest forms of what the comparison with the reference interpreter (test/reference) has found. */
describe('what the reference interpreter found', () => {
  it('times a sleep out that outlasts the timeout of its step [TO-1] [TO-2]', async () => {
    const run = await play({ blocks: [sleep('s', 5000, { timeout: 1000 })] });
    expect([run.state, run.endedMs]).toEqual(['failed', 1000]);
    expect(run.instance.failure?.error).toMatchObject({ code: 'TIMEOUT' });
  });

  it('holds the result of a sleep against its output schema [SCHEMA-1]', async () => {
    const run = await play({ blocks: [sleep('s', 500, { output_schema: { type: 'array' } })] });
    expect(run.instance.failure?.error).toMatchObject({ code: 'OUTPUT_CONTRACT_VIOLATION' });
  });

  it.each([
    ['parallel', parallel('x', [[step('bad')], [sleep('s', 9000)]])],
    ['race', race('x', [[step('bad')], [sleep('s', 9000)]], { semantics: 'first_to_succeed' })],
  ])('cancels a %s with a branch that had failed before [CAN-3] [CAN-4]', async (_name, block) => {
    const run = await play({ blocks: [block], on: { bad: fails('no') }, events: [cancelAt(100)] });
    expect(run.state).toBe('cancelled');
    expect(run.tree).toEqual({ x: 'cancelled', bad: 'failed', s: 'cancelled' });
    expect(run.outputs).toEqual([]);
  });

  it('fails a parallel when what is protected fails while the cancel drains [CAN-4]', async () => {
    const run = await play({
      blocks: [parallel('x', [[step('bad', { cancellable: false })], [sleep('s', 9000)]])],
      on: { bad: fails('no', { takesMs: 500 }) },
      events: [cancelAt(100)],
    });
    expect(run.state).toBe('failed');
  });

  it('lets a protected branch end although too few others can succeed after a cancel [CAN-2] [B25]', async () => {
    const shielded = step('d', { cancellable: false });
    const branches = [[step('bad')], [sleep('b', 9000)], [sleep('c', 9000)], [shielded]];
    const run = await play({
      blocks: [parallel('x', branches, { min_successful: 2 })],
      on: { bad: fails('no'), d: ok('kept', { takesMs: 500 }) },
      events: [cancelAt(100)],
    });
    expect([run.state, run.outputs]).toEqual(['cancelled', ['d="kept"']]);
  });

  it('takes away the breach row of a step whose failure was caught [OP-2]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [task('late', { deadline: 100 })]), step('z')],
      on: { z: byRun(fails('no'), ok()) },
      events: [retryAt(1000)],
    });
    expect(run.outputs).toEqual(['z=null']);
  });

  it('writes an error row for a caught breach whose row a retry took away, when its catch fails [OP-2] [ERR-ROW-2]', async () => {
    const caught = tryCatch('t', [task('late', { deadline: 100 })], [step('c')]);
    const run = await play({
      blocks: [parallel('p', [[step('b')], [caught]], { min_successful: 2 })],
      on: {
        b: byRun(fails('no', { takesMs: 500 }), ok()),
        c: byRun(ok(null, { takesMs: 1000 }), fails('neither')),
      },
      events: [retryAt(2000)],
    });
    expect(run.state).toBe('failed');
    const failed = run.rows.filter((row) => row.kind === 'error' || row.kind === 'breach');
    expect(failed.map(({ blockId, kind }) => [blockId, kind])).toEqual([
      ['late', 'error'],
      ['c', 'error'],
    ]);
  });

  it('fails a race when what is protected fails while the cancel drains, though another branch ends [CAN-4]', async () => {
    const shielded = (id: string) => step(id, { cancellable: false });
    const run = await play({
      blocks: [race('r', [[shielded('a')], [shielded('bad')]])],
      on: { a: ok('kept', { takesMs: 800 }), bad: fails('no', { takesMs: 500 }) },
      events: [cancelAt(100)],
    });
    expect([run.state, run.outputs.length]).toEqual(['failed', 2]);
  });

  it('writes the error of a try list once when finally fails again after a retry [OP-2] [ERR-ROW-2]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a')], [sleep('c', 9000)], [step('f')])],
      on: { a: fails('no'), f: fails('neither') },
      events: [cancelAt(100), retryAt(1000), cancelAt(1100)],
    });
    expect(run.rows.map((row) => row.blockId)).toEqual(['a', 'f']);
  });

  it('begins a try_catch as a whole whose catch list was cancelled [OP-3]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a')], [sleep('c', 9000)], [step('f')])],
      on: { a: fails('no'), f: byRun(fails('no'), ok()) },
      events: [cancelAt(100), retryAt(1000)],
    });
    expect([run.state, run.called]).toEqual(['completed', ['a', 'f', 'a', 'f']]);
  });

  it('keeps the only result of a block that left none in later passes [LOOP-10]', async () => {
    const branches = [[step('a')], [step('b')]];
    const run = await play({
      blocks: [loop('l', [race('r', branches)], { max_iterations: 3, retain_iterations: 1 })],
      on: {
        a: byPass(ok('a', { takesMs: 1 }), ok('a', { takesMs: 9 })),
        b: byPass(ok('b', { takesMs: 9 }), ok('b', { takesMs: 1 })),
      },
    });
    const results = run.outputs.filter((output) => !output.startsWith('l='));
    expect(results).toEqual(['a@l:0="a"', 'b@l:2="b"']);
  });

  it('does not count a pass that failed while a cancel drained [LOOP-5] [CAN-2]', async () => {
    const run = await play({
      blocks: [loop('l', [scope('s', [step('a')])], { continue_on_error: true })],
      on: { a: fails('no', { takesMs: 500 }) },
      events: [cancelAt(100)],
    });
    expect([run.state, run.outputs]).toEqual(['cancelled', []]);
  });

  it('resolves the prompt of a gate with what the step may see [TPL-2] [TPL-4]', async () => {
    const run = await play({
      blocks: [gate('g', { prompt: 'pay {{data.sum}}?' }, { context_access: { data: false } })],
      data: { sum: 7 },
    });
    expect(run.frontier.frames[0]?.leaf?.gate?.prompt).toBe('pay null?');
  });

  it('names the leaves of a saga that failed in a catch list [TRY-4]', async () => {
    const inner = tryCatch('i', [step('a')], [saga('s', [[step('b')]])]);
    const run = await play({
      blocks: [tryCatch('o', [inner])],
      on: { a: fails('no'), b: fails('neither') },
    });
    expect(run.instance.data).toMatchObject({ _error: { errors: [{ block_id: 'a' }, { block_id: 'b' }] } });
  });
});
