import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Json, member } from '../../src/core/json.ts';
import type { StepCall } from '../../src/ports/step-handler.ts';
import { type DefinedHandler, defineHandler, type HandlerContext } from '../../src/sdk/handler.ts';
import type { StandardSchema } from '../../src/sdk/standard-schema.ts';
import { toStepHandler } from '../../src/sdk/step-handler.ts';
import { type LoggedLine, stateOf, stepCall } from '../handlers/step-call.ts';
import { manualClock } from '../http-client/manual-clock.ts';

const clock = manualClock();
const run = async (
  defined: DefinedHandler,
  params: Json = {},
  call: Partial<StepCall> = {},
  lines: LoggedLine[] = [],
) => await toStepHandler(defined, clock).run(stepCall(params, call, lines));

const Amount = z.object({ amount: z.number().positive(), currency: z.string().default('EUR') });

describe('defineHandler', () => {
  it('gives the parsed input to the handler and its result to the step', async () => {
    const charge = defineHandler('charge', { input: Amount }, async ({ amount, currency }) => ({
      text: `${amount.toFixed(2)} ${currency}`,
    }));
    expect(await run(charge, { amount: 2.5 })).toEqual({ ok: true, output: { text: '2.50 EUR' } });
  });

  it('is an effect unless it says that it is pure', () => {
    const kindOf = (pure?: boolean) =>
      toStepHandler(
        defineHandler('k', pure === undefined ? {} : { pure }, () => null),
        clock,
      ).kind;
    expect([kindOf(), kindOf(false), kindOf(true)]).toEqual(['effect', 'effect', 'pure']);
  });

  it('leaves the dry run of an effect to the stub of the engine [DRY-1]', () => {
    expect(
      toStepHandler(
        defineHandler('k', {}, () => null),
        clock,
      ).dryRun,
    ).toBeUndefined();
  });

  it('shows its retry policy and timeout as defaults, normalised to milliseconds', () => {
    const retry = { max_attempts: 3, initial_backoff: 0.5, max_backoff: 8000 };
    const defined = defineHandler('k', { retry, timeout: 1.5 }, () => null);
    expect(defined.defaults).toEqual({
      retry: { max_attempts: 3, initial_backoff: 500, max_backoff: 8000, backoff_multiplier: 2 },
      timeoutMs: 1500,
    });
    expect(defineHandler('k', {}, () => null).defaults).toEqual({});
  });

  it.each([
    [{ retry: { max_attempts: 0, initial_backoff: 1, max_backoff: 1 } }],
    [{ retry: { max_attempts: 1.5, initial_backoff: 1, max_backoff: 1 } }],
    [{ retry: { max_attempts: 1, initial_backoff: -1, max_backoff: 1 } }],
    [{ timeout: -1 }],
    [{ timeout: Number.NaN }],
    [{ timeout: 315_360_000_001 }],
  ])('throws when it is made with %j', (options) => {
    expect(() => defineHandler('charge', options, () => null)).toThrow(/handler charge: (retry|timeout)/);
  });

  it('hands the whole context over (sequences.md 8.6)', async () => {
    const seen: HandlerContext[] = [];
    const spy = defineHandler('spy', {}, async (_, context) => {
      seen.push(context);
      context.log.debug('d');
      context.log.info('i');
      context.log.warn('w\u0000');
      context.log.error('e'.repeat(9000));
      return [
        context.remainingTimeMs(),
        await context.state.get('cursor'),
        (await context.state.get('no')) === undefined,
      ];
    });
    const lines: LoggedLine[] = [];
    const call = {
      attempt: 2,
      iteration: 'outer:1',
      redelivery: true,
      dryRun: true,
      context: { data: { a: 1 }, config: {}, audit: [], runtime: {} },
      state: stateOf({ cursor: 'c-17' }),
      remainingTimeMs: () => 5,
    };
    expect(await run(spy, {}, call, lines)).toEqual({ ok: true, output: [5, 'c-17', true] });
    expect(seen[0]).toMatchObject({
      instanceId: '01890000-0000-7000-8000-000000000001',
      blockId: 'leaf',
      tenantId: 'kiln',
      iteration: 'outer:1',
      attempt: 2,
      idempotencyKey: 'instance:run:leaf:-',
      attemptKey: 'instance:run:leaf:-:0',
      redelivery: true,
      dryRun: true,
      context: { data: { a: 1 } },
      nowMs: Date.UTC(2027, 4, 1, 10),
    });
    expect(lines).toEqual([
      { level: 'debug', message: 'd' },
      { level: 'info', message: 'i' },
      { level: 'warn', message: 'w\ufffd' },
      { level: 'error', message: 'e'.repeat(8192) },
    ]);
  });
});

describe('what a handler changes', () => {
  it('reaches neither params nor context nor state of the engine', async () => {
    const params = { lines: [1] };
    const context = { data: { lines: [1] }, config: {}, audit: [], runtime: {} };
    const lines = [1];
    const push = (list: unknown) => Reflect.apply(Array.prototype.push, list, [2]);
    const greedy = defineHandler('greedy', {}, async (input: { lines: number[] }, ctx) => {
      push(input.lines);
      push(member(ctx.context.data, 'lines'));
      push(await ctx.state.get('lines'));
      return [input.lines, ctx.context.data];
    });
    const outcome = await run(greedy, params, { context, state: stateOf({ lines }) });
    expect(outcome).toEqual({ ok: true, output: [[1, 2], { lines: [1, 2] }] });
    expect([params, context.data, lines]).toEqual([{ lines: [1] }, { lines: [1] }, [1]]);
  });
});

describe('input schema', () => {
  const charge = defineHandler('charge', { input: Amount }, () => {
    throw new Error('must not be called');
  });

  it('H-3 fails permanently with INVALID_PARAMS, before and during the call', async () => {
    const failure = {
      message: expect.stringMatching(/^charge: params do not fit the input schema: \/amount /),
      retryable: false,
      code: 'INVALID_PARAMS',
      details: { violations: [{ pointer: '/amount', message: expect.any(String) }] },
    };
    expect(toStepHandler(charge, clock).checkParams?.({ amount: -1 })).toEqual(failure);
    expect(await run(charge, { amount: -1 })).toEqual({ ok: false, failure });
    expect(await run(charge, 'text')).toMatchObject({
      failure: { details: { violations: [{ pointer: '', message: expect.any(String) }] } },
    });
  });

  it('lets good params and handlers without a schema pass', () => {
    expect(toStepHandler(charge, clock).checkParams?.({ amount: 1 })).toBeNull();
    expect(
      toStepHandler(
        defineHandler('k', {}, () => null),
        clock,
      ).checkParams?.('any'),
    ).toBeNull();
  });

  it('escapes pointers and keeps at most 100 violations', async () => {
    const many = defineHandler('many', { input: z.record(z.string(), z.number()) }, () => null);
    const params = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`a/b~${index}`, 'x']));
    const failure = toStepHandler(many, clock).checkParams?.(params);
    expect(failure?.details).toMatchObject({ violations: { length: 100, 0: { pointer: '/a~1b~00' } } });
  });

  it('asks schemas that answer later during the call only', async () => {
    const input = Amount.refine(async ({ amount }) => amount < 10, 'too much');
    const later = defineHandler('later', { input }, ({ amount }) => amount);
    expect(toStepHandler(later, clock).checkParams?.({ amount: 11 })).toBeNull();
    expect(await run(later, { amount: 11 })).toMatchObject({
      ok: false,
      failure: { code: 'INVALID_PARAMS' },
    });
    expect(await run(later, { amount: 9 })).toEqual({ ok: true, output: 9 });
  });

  it('takes any Standard Schema, with paths of keys or of segments', async () => {
    const input: StandardSchema<unknown, string> = {
      '~standard': {
        version: 1,
        vendor: 'ours',
        validate: (value) =>
          typeof value === 'string'
            ? { value }
            : { issues: [{ message: 'no text', path: ['a', { key: 0 }] }] },
      },
    };
    const handler = defineHandler('k', { input }, (text) => text.toUpperCase());
    expect(await run(handler, 'text')).toEqual({ ok: true, output: 'TEXT' });
    expect(await run(handler, 1)).toMatchObject({
      failure: { details: { violations: [{ pointer: '/a/0', message: 'no text' }] } },
    });
  });

  it('treats a schema that throws or rejects as an exception of the handler', async () => {
    const failing = (validate: () => Promise<never>): StandardSchema => ({
      '~standard': { version: 1, vendor: 'ours', validate },
    });
    const bug = () => {
      throw new Error('schema bug');
    };
    for (const validate of [bug, async () => bug()]) {
      const handler = defineHandler('k', { input: failing(validate) }, () => null);
      expect(toStepHandler(handler, clock).checkParams?.({})).toBeNull();
      expect(await run(handler)).toMatchObject({
        failure: { code: 'UNHANDLED_EXCEPTION', message: 'schema bug' },
      });
    }
  });

  it('takes violations without a path', async () => {
    const input: StandardSchema = {
      '~standard': { version: 1, vendor: 'ours', validate: () => ({ issues: [{ message: 'never fits' }] }) },
    };
    expect(await run(defineHandler('k', { input }, () => null))).toMatchObject({
      failure: {
        message: 'k: params do not fit the input schema: never fits',
        details: { violations: [{ pointer: '', message: 'never fits' }] },
      },
    });
  });
});

describe('result of a handler', () => {
  it('SCHEMA-1 fails permanently with OUTPUT_CONTRACT_VIOLATION when the schema is broken', async () => {
    const output = z.object({ receipt: z.string() });
    const bad = defineHandler('charge', { output }, () => ({ receipt: JSON.parse('7') }));
    expect(await run(bad)).toEqual({
      ok: false,
      failure: {
        message: expect.stringMatching(/^charge: the result does not fit the output schema: \/receipt /),
        retryable: false,
        code: 'OUTPUT_CONTRACT_VIOLATION',
        details: { violations: [{ pointer: '/receipt', message: expect.any(String) }] },
      },
    });
  });

  it('stores what the output schema makes of it', async () => {
    const output = z.object({ at: z.date(), state: z.string().default('paid') });
    const handler = defineHandler('k', { output }, () => ({ at: new Date(0), extra: 1 }));
    expect(await run(handler)).toEqual({
      ok: true,
      output: { at: '1970-01-01T00:00:00.000Z', state: 'paid' },
    });
  });

  it('becomes JSON, nothing becomes null (RULINGS B11)', async () => {
    expect(await run(defineHandler('k', {}, () => undefined))).toEqual({ ok: true, output: null });
    expect(await run(defineHandler('k', {}, async () => undefined))).toEqual({ ok: true, output: null });
    expect(await run(defineHandler('k', {}, () => 10n))).toMatchObject({
      failure: { code: 'INVALID_OUTPUT', retryable: false },
    });
    expect(await run(defineHandler('k', {}, () => 'x'.repeat(9 * 1024 * 1024)))).toMatchObject({
      failure: { code: 'OUTPUT_TOO_LARGE', retryable: false },
    });
  });
});
