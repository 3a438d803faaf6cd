import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { RetryPolicy } from '../../src/core/definition/step.ts';
import { backoffMs } from '../../src/core/run/leaf/backoff.ts';
import { step, task, tries } from './support/blocks.ts';
import { play, playOnce } from './support/play.ts';
import { byAttempt, fails, ok, retryably, signal } from './support/script.ts';

describe('retry of an attempt', () => {
  const waits: readonly (readonly [JsonObject, readonly number[]])[] = [
    [{ initial_backoff: 400, max_backoff: 5000 }, [400, 800, 1600, 3200, 5000]],
    [{ initial_backoff: 100, backoff_multiplier: 2, max_backoff: 150 }, [100, 150, 150]],
    [{ initial_backoff: 1000, backoff_multiplier: 1, max_backoff: 1000 }, [1000, 1000, 1000]],
    [{ initial_backoff: 0, backoff_multiplier: 2, max_backoff: 0 }, [0, 0, 0]],
    [{ initial_backoff: 3000, backoff_multiplier: 0.5, max_backoff: 3000 }, [3000, 1500, 750, 375, 187]],
    [{ initial_backoff: 1.5, max_backoff: 9000 }, [1500, 3000, 6000, 9000]],
  ];
  for (const [policy, expected] of waits) {
    it(`waits ${expected.join(', ')} ms with ${JSON.stringify(policy)} 15.2`, async () => {
      const parsed = RetryPolicy.parse({ max_attempts: 9, ...policy });
      expect(expected.map((_, index) => backoffMs(parsed, index + 1))).toEqual(expected);
      const run = await play({
        blocks: [step('a', { retry: { max_attempts: expected.length + 1, ...policy } })],
        on: { a: retryably('busy') },
      });
      expect(run.calls.length).toBe(expected.length + 1);
      expect(run.endedMs).toBe(expected.reduce((sum, wait) => sum + wait, 0));
    });
  }

  it('counts a product above 2^53 as the cap 15.2', () => {
    const policy = RetryPolicy.parse({
      max_attempts: 2000,
      initial_backoff: 1000,
      max_backoff: 60_000,
      backoff_multiplier: 10,
    });
    expect([backoffMs(policy, 20), backoffMs(policy, 1500)]).toEqual([60_000, 60_000]);
  });

  it('is final without a policy [RET-1]', async () => {
    const run = await play({ blocks: [step('a')], on: { a: retryably('busy') } });
    expect([run.state, run.called]).toEqual(['failed', ['a']]);
  });

  it('counts all tries in max_attempts, in process and on workers [RET-2] (D12)', async () => {
    for (const make of [step, task]) {
      const once = await play({ blocks: [make('a', tries(1))], on: { a: retryably('busy') } });
      expect(once.called).toEqual(['a']);
      const thrice = await play({ blocks: [make('a', tries(3, 200))], on: { a: retryably('busy') } });
      expect(thrice.called).toEqual(['a', 'a#1', 'a#2']);
      expect(thrice.endedMs).toBe(400);
    }
  });

  it('is final after a permanent failure; the policy is not asked [RET-3]', async () => {
    const run = await play({ blocks: [step('a', tries(3))], on: { a: fails('no') } });
    expect(run.called).toEqual(['a']);
  });

  const codes: readonly (readonly [string, object, boolean])[] = [
    ['E_X', { code: 'E_X' }, false],
    ['402', { details: { status: 402 } }, false],
    ['D1', { details: { error_code: 'D1' } }, false],
    ['D2', { details: { code: 'D2' } }, false],
    ['e_x', { code: 'E_X' }, true],
    ['E_X', { details: { other: 'E_X' } }, true],
    ['4.5', { details: { status: 4.5 } }, false],
    ['true', { details: { code: true } }, true],
  ];
  for (const [listed, carried, again] of codes) {
    it(`${again ? 'retries' : 'does not retry'} ${JSON.stringify(carried)} when ${listed} is non-retryable [RET-4]`, async () => {
      for (const make of [step, task]) {
        const run = await play({
          blocks: [make('a', tries(2, 200, { non_retryable_codes: [listed] }))],
          on: { a: retryably('busy', carried) },
        });
        expect(run.calls.length).toBe(again ? 2 : 1);
      }
    });
  }

  const conditions: readonly (readonly [string, number])[] = [
    ["data._error.code == 'BUSY'", 2],
    ["_error.message == 'busy'", 2],
    ['data._error.details.n > 5', 2],
    ['data._error.details.n > 50', 1],
    ['data.allowed', 2],
    ['outputs.x.from == "x"', 2],
    ['data.allowed &&', 1],
    ['data.missing', 1],
  ];
  for (const [condition, calls] of conditions) {
    it(`tries ${calls} times with retry_if ${condition} [RET-4] [RET-5] [CERR-3]`, async () => {
      const run = await play({
        blocks: [step('x'), step('a', tries(2, 10, { retry_if: condition }))],
        data: { allowed: true },
        on: { a: retryably('busy', { code: 'BUSY', details: { n: 7 } }) },
      });
      expect(run.calls.filter((call) => call.blockId === 'a').length).toBe(calls);
      expect(run.instance.data).toEqual({ allowed: true });
    });
  }

  it('writes a hidden marker and waits as a scheduled instance with the next attempt [RET-6]', async () => {
    const run = await play({
      blocks: [step('a', tries(3, 500))],
      on: { a: retryably('busy', { code: 'B', details: { n: 1 } }) },
      untilMs: 100,
    });
    expect([run.state, run.outputs]).toEqual(['scheduled', []]);
    expect(run.instance.nextFireAt).toBe(run.world.startAt + 500);
    expect(run.nodes[0]).toMatchObject({
      state: 'waiting',
      reason: 'retry',
      attempt: 1,
      error: { message: 'busy' },
    });
    const rows = await run.world.store.listOutputs(null, run.instance.id, { node: false, retry: true });
    expect(rows).toMatchObject([
      {
        kind: 'retry',
        attempt: 0,
        output: { _retry_marker: true, error: { message: 'busy', code: 'B', details: { n: 1 } } },
      },
    ]);
  });

  it('waits at least as long as the failure asks, within the cap', async () => {
    const at = async (retryAfterMs: number): Promise<number> =>
      (
        await play({
          blocks: [step('a', tries(2, 500))],
          on: { a: byAttempt(retryably('x', { retryAfterMs }), ok()) },
        })
      ).endedMs;
    expect([await at(100), await at(500), await at(9000)]).toEqual([500, 500, 500]);
  });

  it('gives every attempt the same idempotency key and the run id of its run [IDEM-1] [IDEM-2]', async () => {
    const run = await playOnce({
      blocks: [step('a', tries(2, 10))],
      on: { a: byAttempt(retryably('busy'), ok()) },
    });
    const keys = run.calls.map((call) => call.idempotencyKey);
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(keys[0]).toBe(`${run.instance.id}:${run.instance.runId}:a:-`);
  });

  it('goes on with the retry after pause and resume', async () => {
    const run = await play({
      blocks: [step('a', tries(2, 500))],
      on: { a: byAttempt(retryably('busy'), ok()) },
      events: [signal(100, 'pause'), signal(900, 'resume')],
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 900]);
  });

  it('keeps no trace of an absorbed or repaired failure in the outputs [ERR-ROW-1] [OUT-3]', async () => {
    const run = await play({
      blocks: [step('a', tries(2, 10))],
      on: { a: byAttempt(retryably('busy'), ok('fine')) },
    });
    expect(run.outputs).toEqual(['a="fine"']);
    expect(run.rows[0]?.attempt).toBe(1);
  });

  it('writes one error row for the failed step of a flat run [ERR-ROW-2]', async () => {
    const run = await play({
      blocks: [step('a', tries(2, 10))],
      on: { a: retryably('busy', { code: 'B', details: { n: 1 } }) },
    });
    expect(run.rows).toMatchObject([
      {
        blockId: 'a',
        kind: 'error',
        attempt: 1,
        output: { __error__: true, retryable: true, message: 'busy', code: 'B', details: { n: 1 } },
      },
    ]);
  });
});
