import { describe, expect, it } from 'vitest';
import { systemEntropy } from '../../src/adapters/system.ts';
import type { Json } from '../../src/core/json.ts';
import { createAssertHandler } from '../../src/engine/handlers/assert.ts';
import { randomValues } from '../../src/engine/handlers/random-values.ts';
import { stepCall } from './step-call.ts';

const assertHandler = createAssertHandler(systemEntropy);
const context = {
  data: { total: 12, name: 'kiln' },
  config: { max: 10 },
  audit: [],
  runtime: { attempt: 2 },
};
const outputs = new Map<string, Json>([['stock', { left: 3 }]]);
const check = async (params: Json) => await assertHandler.run(stepCall(params, { context, outputs }));

describe('assert', () => {
  it.each([
    'data.total > config.max',
    'outputs.stock.left == 3',
    "data.name == 'kiln'",
    'runtime.attempt == 2',
    "now() == '2027-05-01T10:00:00.000Z'",
    'true',
  ])('passes when %s is truthy and returns the condition', async (condition) => {
    expect(await check({ condition })).toEqual({ ok: true, output: { condition, passed: true } });
  });

  it.each(['data.total < 10', 'data.nothing', 'null', 'data.total >', ')('])(
    'fails permanently when %s is falsy or no expression',
    async (condition) => {
      expect(await check({ condition, message: 'the kiln is cold' })).toEqual({
        ok: false,
        failure: {
          message: `assert: the kiln is cold (condition: ${condition})`,
          retryable: false,
          code: 'ASSERTION_FAILED',
          details: { condition, passed: false },
        },
      });
    },
  );

  it('says "assertion failed" when no message is given', async () => {
    const outcome = await check({ condition: 'false', message: 7 });
    expect(outcome).toMatchObject({ failure: { message: 'assert: assertion failed (condition: false)' } });
  });

  it('refuses params without a usable condition before and during the run [H-3]', async () => {
    for (const params of [
      {},
      { condition: '' },
      { condition: 5 },
      { condition: null },
      null,
    ] satisfies Json[]) {
      const failure = {
        retryable: false,
        code: 'INVALID_PARAMS',
        message: expect.stringContaining('assert: condition'),
      };
      expect(assertHandler.checkParams?.(params)).toMatchObject(failure);
      expect(await check(params)).toMatchObject({ ok: false, failure });
    }
    expect(assertHandler.checkParams?.({ condition: 'true' })).toBeNull();
  });

  it('gives expressions a random number between the bounds', async () => {
    const condition = 'random(1, 5) >= 1 && random(1, 5) < 5';
    expect(await check({ condition })).toMatchObject({ ok: true });
  });
});

describe('random values', () => {
  const valuesOf = (byte: number) => randomValues({ bytes: (length) => new Uint8Array(length).fill(byte) });

  it('span from 0 to the last double below 1', () => {
    expect(valuesOf(0).random()).toBe(0);
    expect(valuesOf(255).random()).toBe(1 - 2 ** -53);
  });

  it('are UUIDs of version 4 in every byte pattern', () => {
    expect(valuesOf(0).uuid()).toBe('00000000-0000-4000-8000-000000000000');
    expect(valuesOf(255).uuid()).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
  });
});
