import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { defineHandler, StepError } from '../../src/sdk/handler.ts';
import { toStepHandler } from '../../src/sdk/step-handler.ts';
import { stepCall } from '../handlers/step-call.ts';
import { manualClock } from '../http-client/manual-clock.ts';

/** Resolves or rejects with what the signal says when it fires. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

describe('signal of a handler', () => {
  it.each([
    [60_000, 59_000],
    [10_000, 9000],
    [1000, 900],
    [10, 9],
    [0, 0],
    [-50, 0],
  ])('fires a margin before the deadline: with %d ms left after %d ms', async (remainingMs, firesAfterMs) => {
    const clock = manualClock();
    const waiting: number[][] = [];
    const handler = defineHandler('k', {}, () => {
      waiting.push(clock.waiting());
    });
    const { signal } = new AbortController();
    await toStepHandler(handler, clock).run(stepCall({}, { signal, remainingTimeMs: () => remainingMs }));
    expect(waiting).toEqual([[firesAfterMs]]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(clock.waiting()).toEqual([]);
  });

  it('sets no timer for a call without deadline', async () => {
    const clock = manualClock();
    const waiting: number[][] = [];
    const handler = defineHandler('k', {}, () => {
      waiting.push(clock.waiting());
    });
    await toStepHandler(handler, clock).run(
      stepCall({}, { remainingTimeMs: () => Number.POSITIVE_INFINITY }),
    );
    expect(waiting).toEqual([[]]);
  });

  it('listens to the end of a call without deadline only for a handler that asks for it', async () => {
    const listening: number[] = [];
    const calls = [
      defineHandler('deaf', {}, () => void listening.push(getEventListeners(signal, 'abort').length)),
      defineHandler('hearing', {}, (_, context) => {
        expect(context.signal.aborted).toBe(false);
        listening.push(getEventListeners(signal, 'abort').length);
      }),
    ];
    const { signal } = new AbortController();
    const whole = { signal, remainingTimeMs: () => Number.POSITIVE_INFINITY };
    for (const handler of calls) await toStepHandler(handler, manualClock()).run(stepCall({}, whole));
    expect(listening).toEqual([0, 1]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('lets a handler that hears it return what it has', async () => {
    const clock = manualClock();
    const handler = defineHandler('k', {}, async (_, { signal }) => {
      clock.fire();
      return { stopped: signal.aborted };
    });
    expect(await toStepHandler(handler, clock).run(stepCall({}))).toEqual({
      ok: true,
      output: { stopped: true },
    });
  });

  it('TO-2 makes a retryable TIMEOUT of a handler that stops because its time is nearly used up', async () => {
    const timedOut = { ok: false, failure: { code: 'TIMEOUT', retryable: true } };
    const clock = manualClock();
    const listening = defineHandler('k', {}, (_, { signal }) => {
      const aborted = untilAborted(signal);
      clock.fire();
      return aborted;
    });
    expect(await toStepHandler(listening, clock).run(stepCall({}))).toMatchObject(timedOut);
    const fetching = defineHandler('k', {}, () => {
      clock.fire();
      throw new DOMException('This operation was aborted', 'AbortError');
    });
    expect(await toStepHandler(fetching, clock).run(stepCall({}))).toMatchObject(timedOut);
  });

  it('keeps the class of another error thrown after it fired', async () => {
    const clock = manualClock();
    const handler = defineHandler('k', {}, () => {
      clock.fire();
      throw new StepError('half done', { retryable: false, code: 'HALF' });
    });
    expect(await toStepHandler(handler, clock).run(stepCall({}))).toMatchObject({
      failure: { code: 'HALF' },
    });
    const plain = defineHandler('k', {}, () => {
      clock.fire();
      throw new Error('other');
    });
    expect(await toStepHandler(plain, clock).run(stepCall({}))).toMatchObject({
      failure: { code: 'UNHANDLED_EXCEPTION' },
    });
  });

  it('fires with the signal of the call and passes its reason on [H-6]', async () => {
    const stop = new AbortController();
    const reason = new Error('instance cancelled');
    const handler = defineHandler('k', {}, (_, { signal }) => {
      const aborted = untilAborted(signal);
      stop.abort(reason);
      return aborted;
    });
    const run = async () =>
      await toStepHandler(handler, manualClock()).run(stepCall({}, { signal: stop.signal }));
    expect(await run()).toMatchObject({ failure: { message: 'instance cancelled', code: 'TIMEOUT' } });
    const late = defineHandler('k', {}, (_, { signal }) => signal.aborted);
    const outcome = await toStepHandler(late, manualClock()).run(stepCall({}, { signal: stop.signal }));
    expect(outcome).toEqual({ ok: true, output: true });
  });
});
