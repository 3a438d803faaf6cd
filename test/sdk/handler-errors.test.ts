import { describe, expect, it } from 'vitest';
import { defineHandler, StepError } from '../../src/sdk/index.ts';
import { toStepHandler } from '../../src/sdk/step-handler.ts';
import { type LoggedLine, stepCall } from '../handlers/step-call.ts';
import { manualClock } from '../http-client/manual-clock.ts';

/** What becomes of an error that a handler throws. */
async function thrown(error: unknown, lines: LoggedLine[] = []) {
  const handler = defineHandler('throws', {}, () => {
    throw error;
  });
  return await toStepHandler(handler, manualClock()).run(stepCall({}, {}, lines));
}

describe('errors of a handler (sequences.md 15.1)', () => {
  it('REG-2 StepError is retryable unless it says otherwise and carries code, details and wait', async () => {
    expect(await thrown(new StepError('busy'))).toEqual({
      ok: false,
      failure: { message: 'busy', retryable: true, code: 'UNHANDLED_EXCEPTION' },
    });
    const declined = new StepError('declined', {
      retryable: false,
      code: 'DECLINED',
      details: { at: new Date(0) },
      retryAfterMs: 1500.2,
      cause: new Error('kept for the log'),
    });
    expect(await thrown(declined)).toEqual({
      ok: false,
      failure: {
        message: 'declined',
        retryable: false,
        code: 'DECLINED',
        details: { at: '1970-01-01T00:00:00.000Z' },
        retryAfterMs: 1501,
      },
    });
  });

  it('drops details that are no JSON with a warning, and waits that are no duration', async () => {
    for (const retryAfterMs of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const lines: LoggedLine[] = [];
      const outcome = await thrown(new StepError('x', { details: () => 1, retryAfterMs }), lines);
      expect(outcome).toEqual({
        ok: false,
        failure: { message: 'x', retryable: true, code: 'UNHANDLED_EXCEPTION' },
      });
      expect(lines).toEqual([{ level: 'warn', message: 'details of the error are left out: a function' }]);
    }
  });

  it('is recognised from another copy of the module by its mark', async () => {
    const foreign = Object.assign(new Error('far'), {
      [Symbol.for('stepwell.StepError')]: true,
      retryable: false,
      code: '',
    });
    expect(await thrown(foreign)).toEqual({
      ok: false,
      failure: { message: 'far', retryable: false, code: 'UNHANDLED_EXCEPTION' },
    });
  });

  it('REG-2 any other error is retryable with UNHANDLED_EXCEPTION, its stack goes to the log', async () => {
    const lines: LoggedLine[] = [];
    const error = new TypeError('x is not a function');
    expect(await thrown(error, lines)).toEqual({
      ok: false,
      failure: { message: 'x is not a function', retryable: true, code: 'UNHANDLED_EXCEPTION' },
    });
    expect(lines[0]?.message).toContain('handler-errors.test.ts');
  });

  it.each([
    [new RangeError(), 'RangeError'],
    ['just text', 'just text'],
    [undefined, 'the handler threw a value that is no Error'],
    [{ message: 'object' }, 'the handler threw a value that is no Error'],
    [new Error('nul\u0000 and \ud800'), 'nul\ufffd and \ufffd'],
    [new Error('é'.repeat(9000)), 'é'.repeat(4096)],
  ])('makes a storable message of %# a thrown value', async (value, message) => {
    expect(await thrown(value)).toMatchObject({ failure: { message, retryable: true } });
  });
});
