import { describe, expect, it } from 'vitest';
import { loop, parallel, race, router, saga, sleep, step, tries, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { byAttempt, cancelAt, fails, ok, retryably } from './support/script.ts';

describe('try_catch', () => {
  it('skips catch and runs finally after a try list that drained [TRY-1] [TRY-2] [TRY-3]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a'), step('b')], [step('c')], [step('f')]), step('z')],
    });
    expect(run.called).toEqual(['a', 'b', 'f', 'z']);
    expect(run.tree).toEqual({
      t: 'completed',
      a: 'completed',
      b: 'completed',
      c: 'skipped',
      f: 'completed',
      z: 'completed',
    });
    expect(run.instance.data).toEqual({});
  });

  it('runs catch, then finally after a try list that failed [TRY-2] [TRY-3]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a'), step('b')], [step('c')], [step('f')])],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a', 'c', 'f']);
    expect(run.tree).toEqual({
      t: 'completed',
      a: 'failed',
      b: 'skipped',
      c: 'completed',
      f: 'completed',
    });
  });

  it('describes the failure in data._error [TRY-4] [CERR-1]', async () => {
    const run = await play({
      blocks: [
        tryCatch('t', [
          step('x'),
          parallel('p', [[step('a')], [step('b'), step('n')], [step('c')]]),
          step('y'),
        ]),
      ],
      on: {
        a: fails('first', { code: 'E_A', details: { status: 402 } }),
        c: fails('second'),
      },
    });
    expect(run.instance.data).toEqual({
      _error: {
        failed_blocks: ['p'],
        source: 'try_catch',
        block_id: 't',
        errors: [
          { block_id: 'a', message: 'first', code: 'E_A', details: { status: 402 } },
          { block_id: 'c', message: 'second' },
        ],
      },
    });
  });

  const results: readonly (readonly [string, readonly string[], string])[] = [
    ['finally failed', ['f'], 'failed'],
    ['try and catch failed', ['a', 'c'], 'failed'],
    ['try failed and catch drained', ['a'], 'completed'],
    ['catch would fail but try drained', ['c'], 'completed'],
    ['try failed, catch drained, finally failed', ['a', 'f'], 'failed'],
  ];
  for (const [name, failing, state] of results) {
    it(`is ${state} when ${name} [TRY-5]`, async () => {
      const run = await play({
        blocks: [tryCatch('t', [step('a')], [step('c')], [step('f')])],
        on: Object.fromEntries(failing.map((id) => [id, fails(`no ${id}`)])),
      });
      expect(run.state).toBe(state);
      expect(run.tree['t']).toBe(state);
      expect(run.called.includes('f')).toBe(true);
    });
  }

  it('swallows the failure with an empty catch list [TRY-5]', async () => {
    const run = await play({ blocks: [tryCatch('t', [step('a')]), step('z')], on: { a: fails('no') } });
    expect(run.state).toBe('completed');
    expect(run.outputs).toEqual(['z={"from":"z"}']);
  });

  it('writes error rows for what neither catch nor finally absorbed [ERR-ROW-2] [ERR-ROW-3]', async () => {
    const both = await play({
      blocks: [tryCatch('t', [step('a')], [step('c')], [step('f')])],
      on: { a: fails('no a'), c: fails('no c') },
    });
    expect(both.rows.map((row) => `${row.blockId} ${row.kind}`)).toEqual(['f result', 'a error', 'c error']);
    const last = await play({
      blocks: [tryCatch('t', [step('a')], [step('c')], [step('f')])],
      on: { a: fails('no a'), f: fails('no f') },
    });
    expect(last.rows.map((row) => `${row.blockId} ${row.kind}`)).toEqual(['c result', 'f error']);
  });

  it('shows its own error object inside catch and finally while another block overwrites the stored one [TRY-6] [CERR-2]', async () => {
    const params = { params: { failed: '{{data._error.failed_blocks}}', by: '{{data._error.block_id}}' } };
    const run = await play({
      blocks: [
        parallel('p', [
          [tryCatch('t', [step('a')], [sleep('s', 100), step('c', params)], [step('f', params)])],
          [tryCatch('u', [sleep('s2', 50), step('b')], [step('d', params)])],
        ]),
      ],
      on: { a: fails('no'), b: fails('no') },
    });
    const seen = Object.fromEntries(run.calls.map((call) => [call.blockId, call.params]));
    expect(seen['c']).toEqual({ failed: ['a'], by: 't' });
    expect(seen['f']).toEqual({ failed: ['a'], by: 't' });
    expect(seen['d']).toEqual({ failed: ['b'], by: 'u' });
    expect(run.instance.data).toMatchObject({ _error: { block_id: 'u' } });
  });

  it('reads the outer error object inside the try list of an inner block [CERR-2]', async () => {
    const run = await play({
      blocks: [
        tryCatch(
          'o',
          [step('a')],
          [tryCatch('i', [step('b', { params: { in: '{{data._error.block_id}}' } })], [step('c')])],
        ),
      ],
      on: { a: fails('no') },
    });
    expect(run.calls.find((call) => call.blockId === 'b')?.params).toEqual({ in: 'o' });
  });

  it('uses up the retries of a step before it catches [TRY-7]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a', tries(3, 50))], [step('c')])],
      on: { a: retryably('busy') },
    });
    expect(run.called).toEqual(['a', 'a#1', 'a#2', 'c']);
    expect(run.endedMs).toBe(100);
    expect(run.outputs).toEqual(['c={"from":"c"}']);
  });

  it('catches a composite as one failed block (chapter 10)', async () => {
    const blocks = {
      race: race('x', [[step('a')], [sleep('s', 900)]]),
      loop: loop('x', [step('a')]),
      saga: saga('x', [[step('a')]]),
      router: router('x', [['true', [step('a')]]]),
    };
    for (const [kind, block] of Object.entries(blocks)) {
      const run = await play({ blocks: [tryCatch('t', [block], [step('c')])], on: { a: fails('no') } });
      expect([kind, run.state]).toEqual([kind, 'completed']);
      expect(run.instance.data).toMatchObject({ _error: { block_id: 't', failed_blocks: ['x'] } });
    }
  });

  it('lets nothing of catch run and all of finally when a cancel meets the try list [CAN-1] [TRY-3] 17.3', async () => {
    const run = await play({
      blocks: [
        tryCatch('t', [sleep('a', 5000), step('b')], [step('c')], [step('f'), sleep('g', 100), step('h')]),
        step('z'),
      ],
      events: [cancelAt(1000)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.endedMs).toBe(1100);
    expect(run.tree).toEqual({
      t: 'cancelled',
      a: 'cancelled',
      b: 'cancelled',
      c: 'cancelled',
      f: 'completed',
      g: 'completed',
      h: 'completed',
      z: 'cancelled',
    });
  });

  it('cancels a running catch list and still runs finally [CAN-1]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a'), step('b')], [sleep('c', 5000)], [step('f')])],
      on: { a: fails('no') },
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.tree).toEqual({ t: 'cancelled', a: 'failed', b: 'skipped', c: 'cancelled', f: 'completed' });
  });

  it('lets a running finally list end before the cancel takes effect 17.3', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a')], [], [sleep('f', 300), step('g')]), step('z')],
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.tree).toEqual({
      t: 'cancelled',
      a: 'completed',
      f: 'completed',
      g: 'completed',
      z: 'cancelled',
    });
  });

  it('fails the run when finally fails during a cancel [CAN-4]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [sleep('a', 900)], [step('c')], [step('f')]), step('z')],
      on: { f: fails('no') },
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('failed');
    expect(run.tree).toEqual({ t: 'failed', a: 'cancelled', c: 'cancelled', f: 'failed', z: 'skipped' });
  });

  it('keeps the summary of errors small when the context has no room for their details [CTX-1]', async () => {
    const run = await play({
      blocks: [
        tryCatch('t', [step('a')], [step('c', { params: { d: '{{data._error.errors.0.details.text}}' } })]),
      ],
      on: { a: fails('no', { details: { text: 'x'.repeat(3000) } }) },
      maxContextBytes: 2000,
    });
    expect(run.instance.data).toMatchObject({ _error: { errors: [{ block_id: 'a', message: 'no' }] } });
    expect(JSON.stringify(run.instance.data).length).toBeLessThan(1000);
    expect(run.calls.at(-1)?.params).toEqual({ d: 'x'.repeat(3000) });
  });

  it('counts attempts of a failed try anew for each step', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a', tries(2))], [step('c', tries(2))])],
      on: { a: retryably('busy'), c: byAttempt(retryably('busy'), ok('fine')) },
    });
    expect(run.called).toEqual(['a', 'a#1', 'c', 'c#1']);
  });
});
