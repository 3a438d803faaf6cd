import { describe, expect, it } from 'vitest';
import { gate, loop, parallel, pure, saga, sleep, step, tries, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { byPass, cancelAt, fails, ok, retryably } from './support/script.ts';

const trip = [
  [step('seat'), step('seat_undo', { params: { ref: '{{outputs.seat.ref}}' } })],
  [step('room'), step('room_undo')],
  [step('pay'), step('pay_undo')],
  [step('mail'), step('mail_undo')],
] as const;

describe('saga', () => {
  it('runs its actions in order and skips the compensations [SAGA-1] [SAGA-2]', async () => {
    const run = await play({ blocks: [saga('g', trip), step('z')] });
    expect(run.called).toEqual(['seat', 'room', 'pay', 'mail', 'z']);
    expect(run.instance.data).toEqual({});
    expect(run.tree).toMatchObject({
      g: 'completed',
      seat_undo: 'skipped',
      mail_undo: 'skipped',
      mail: 'completed',
    });
  });

  it('completes at once when it is empty [SAGA-2]', async () => {
    const run = await play({ blocks: [saga('g', [])] });
    expect([run.state, run.tree]).toEqual(['completed', { g: 'completed' }]);
  });

  it('compensates what was done in reverse and has then failed [SAGA-3] [SAGA-5] [SAGA-7]', async () => {
    const run = await play({
      blocks: [saga('g', trip), step('z')],
      on: { seat: ok({ ref: 'R7' }), pay: fails('no money', { code: 'DECLINED', details: { left: 3 } }) },
    });
    expect(run.state).toBe('failed');
    expect(run.called).toEqual(['seat', 'room', 'pay', 'room_undo', 'seat_undo']);
    expect(run.outputs.map((text) => text.split('=')[0])).toEqual(['seat', 'room', 'room_undo', 'seat_undo']);
    expect(run.calls.at(-1)?.params).toEqual({ ref: 'R7' });
    expect(run.tree).toEqual({
      g: 'failed',
      seat: 'completed',
      seat_undo: 'completed',
      room: 'completed',
      room_undo: 'completed',
      pay: 'failed',
      pay_undo: 'skipped',
      mail: 'skipped',
      mail_undo: 'skipped',
      z: 'skipped',
    });
    expect(run.instance.data).toEqual({
      _error: {
        failed_step: 's_pay',
        source: 'saga',
        block_id: 'g',
        errors: [{ block_id: 'pay', message: 'no money', code: 'DECLINED', details: { left: 3 } }],
      },
    });
    const node = run.nodes.find((known) => known.blockId === 'g');
    expect(node?.error).toMatchObject({
      message: 'no money',
      code: 'DECLINED',
      details: { rollback: 'rolled_back', failed_compensations: [] },
    });
    expect(run.instance.failure).toMatchObject({ blockId: 'pay', error: { code: 'DECLINED' } });
  });

  it('shows in its tree what a rollback has done and what is to come [SAGA-3]', async () => {
    const run = await play({
      blocks: [
        saga('g', [
          [step('a'), step('a_undo')],
          [step('b', { when: 'false' }), step('b_undo')],
          [step('c'), sleep('c_undo', 500)],
          [step('d'), step('d_undo')],
          [step('e'), step('e_undo')],
        ]),
      ],
      on: { d: fails('no') },
      untilMs: 100,
    });
    expect(run.tree).toEqual({
      g: 'running',
      a: 'completed',
      a_undo: 'pending',
      b: 'skipped',
      b_undo: 'skipped',
      c: 'completed',
      c_undo: 'running:sleep',
      d: 'failed',
      d_undo: 'skipped',
      e: 'skipped',
      e_undo: 'skipped',
    });
  });

  it('passes over steps without compensation and skipped actions [SAGA-3]', async () => {
    const run = await play({
      blocks: [
        saga('g', [
          [step('a'), step('a_undo')],
          [step('b')],
          [step('c', { when: 'false' }), step('c_undo')],
          [tryCatch('d', [step('e', { when: 'false' })]), step('d_undo')],
          [step('f')],
        ]),
      ],
      on: { f: fails('no') },
    });
    expect(run.called).toEqual(['a', 'b', 'f', 'd_undo', 'a_undo']);
  });

  it('compensates an action that an earlier pass had skipped [SAGA-3]', async () => {
    const run = await play({
      blocks: [
        loop('l', [
          saga('g', [[pure('a', { when: 'outputs.l._iterations == 1' }), step('a_undo')], [pure('b')]]),
        ]),
      ],
      on: { b: byPass(ok(), fails('no')) },
    });
    expect(run.called).toEqual(['b@l:0', 'a@l:1', 'b@l:1', 'a_undo@l:1']);
  });

  it('goes on with the rollback when a compensation fails after its retries [SAGA-4]', async () => {
    const run = await play({
      blocks: [
        saga('g', [[step('a'), step('a_undo')], [step('b'), step('b_undo', tries(2, 10))], [step('c')]]),
      ],
      on: { c: fails('no'), b_undo: retryably('stuck') },
    });
    expect(run.called).toEqual(['a', 'b', 'c', 'b_undo', 'b_undo#1', 'a_undo']);
    const node = run.nodes.find((known) => known.blockId === 'g');
    expect(node?.error).toMatchObject({
      details: { rollback: 'partial_rollback', failed_compensations: ['s_b'] },
    });
    expect(run.tree['b_undo']).toBe('failed');
  });

  it('leaves no error rows for what its rollback absorbed [ERR-ROW-3]', async () => {
    const run = await play({
      blocks: [saga('g', [[step('a'), step('a_undo')], [step('b')]])],
      on: { b: fails('no'), a_undo: fails('neither') },
    });
    expect(run.outputs).toEqual(['a={"from":"a"}']);
  });

  it('can be absorbed by a catch [SAGA-5]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [saga('g', [[step('a'), step('a_undo')], [step('b')]])], [step('c')])],
      on: { b: fails('no') },
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a', 'b', 'a_undo', 'c']);
    expect(run.instance.data).toMatchObject({
      _error: { source: 'try_catch', block_id: 't', failed_blocks: ['g'], errors: [{ block_id: 'b' }] },
    });
  });

  it('does not compensate when a cancel meets the forward phase [SAGA-6]', async () => {
    const run = await play({
      blocks: [saga('g', [[step('a'), step('a_undo')], [sleep('b', 900), step('b_undo')], [step('c')]])],
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.called).toEqual(['a']);
    expect(run.tree).toEqual({
      g: 'cancelled',
      a: 'completed',
      a_undo: 'cancelled',
      b: 'cancelled',
      b_undo: 'cancelled',
      c: 'cancelled',
    });
  });

  it('does not compensate when a protected action fails after a cancel [SAGA-6] [CAN-2]', async () => {
    const run = await play({
      blocks: [
        saga('g', [
          [step('a'), step('a_undo')],
          [step('b', { cancellable: false }), step('b_undo')],
        ]),
      ],
      on: { b: fails('no', { takesMs: 100 }) },
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('failed');
    expect(run.called.filter((id) => id.endsWith('undo'))).toEqual([]);
    expect(run.rows.filter((row) => row.kind === 'error').map((row) => row.blockId)).toEqual(['b']);
  });

  it('protects a rollback in progress from cancel [SAGA-6]', async () => {
    const run = await play({
      blocks: [
        saga('g', [[step('a'), step('a_undo')], [step('b'), sleep('b_undo', 500)], [step('c')]]),
        step('z'),
      ],
      on: { c: fails('no') },
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('failed');
    expect(run.tree).toMatchObject({ a_undo: 'completed', b_undo: 'completed', z: 'skipped' });
  });

  it('rolls an inner saga back first, then the outer one (chapter 10)', async () => {
    const run = await play({
      blocks: [
        saga('o', [
          [step('a'), step('a_undo')],
          [saga('i', [[step('b'), step('b_undo')], [step('c')]]), step('i_undo')],
        ]),
      ],
      on: { c: fails('no') },
    });
    expect(run.called).toEqual(['a', 'b', 'c', 'b_undo', 'a_undo']);
    expect(run.tree['i_undo']).toBe('skipped');
  });

  it('takes a composite as one action and a composite as compensation (chapter 10)', async () => {
    const run = await play({
      blocks: [
        saga('g', [
          [parallel('p', [[step('a')], [step('b')]]), tryCatch('u', [step('u1'), step('u2')], [step('u3')])],
          [step('c')],
        ]),
      ],
      on: { c: fails('no'), u1: fails('hm') },
    });
    expect(run.called).toEqual(['a', 'b', 'c', 'u1', 'u3']);
    expect(run.tree).toMatchObject({
      p: 'completed',
      u: 'completed',
      u1: 'failed',
      u2: 'skipped',
      u3: 'completed',
    });
  });

  it('reads its own error object inside compensations [CERR-2]', async () => {
    const run = await play({
      blocks: [
        tryCatch(
          't',
          [step('x')],
          [
            saga('g', [
              [step('a'), step('a_undo', { params: { s: '{{data._error.failed_step}}' } })],
              [step('b')],
            ]),
          ],
        ),
      ],
      on: { x: fails('x'), b: fails('no') },
    });
    expect(run.calls.at(-1)?.params).toEqual({ s: 's_b' });
  });

  it('lets gates and delays stand in actions and compensations', async () => {
    const run = await play({
      blocks: [saga('g', [[gate('a'), gate('a_undo')], [step('b', { delay: { duration: 50 } })]])],
      on: { b: fails('no') },
      answers: {
        a: { payload: { value: 'yes' }, afterMs: 5 },
        a_undo: { payload: { value: 'no' }, afterMs: 5 },
      },
    });
    expect(run.called).toEqual(['a', 'b', 'a_undo']);
    expect(run.endedMs).toBe(60);
  });
});
