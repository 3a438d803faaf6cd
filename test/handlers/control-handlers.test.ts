import { describe, expect, it } from 'vitest';
import { failHandler } from '../../src/engine/handlers/fail.ts';
import { logHandler } from '../../src/engine/handlers/log.ts';
import { noopHandler } from '../../src/engine/handlers/noop.ts';
import { transformHandler } from '../../src/engine/handlers/transform.ts';
import type { Json } from '../../src/core/json.ts';
import { type LoggedLine, stepCall } from './step-call.ts';

describe('noop', () => {
  it('returns an empty object whatever its params are [H-1]', async () => {
    for (const params of [null, {}, { any: 'thing' }, 'text', [1]] satisfies Json[]) {
      expect(await noopHandler.run(stepCall(params))).toEqual({ ok: true, output: {} });
    }
  });
});

describe('log', () => {
  const logged = async (params: Json): Promise<{ output: unknown; lines: LoggedLine[] }> => {
    const lines: LoggedLine[] = [];
    const outcome = await logHandler.run(stepCall(params, {}, lines));
    return { output: outcome.ok ? outcome.output : null, lines };
  };

  it('returns the message with its JSON type and writes it as canonical JSON', async () => {
    expect(await logged({ message: { b: 1, a: [true] }, level: 'warn' })).toEqual({
      output: { message: { b: 1, a: [true] } },
      lines: [{ level: 'warn', message: '{"a":[true],"b":1}' }],
    });
  });

  it('says "no message" only when the member is absent', async () => {
    expect(await logged({})).toMatchObject({ output: { message: 'no message' } });
    expect(await logged('no object')).toMatchObject({ output: { message: 'no message' } });
    expect(await logged({ message: null })).toEqual({
      output: { message: null },
      lines: [{ level: 'info', message: 'null' }],
    });
    expect(await logged({ message: '' })).toEqual({
      output: { message: '' },
      lines: [{ level: 'info', message: '' }],
    });
  });

  it('takes info for unknown levels', async () => {
    for (const level of ['loud', 7, null, 'INFO'] satisfies Json[]) {
      expect((await logged({ message: 'x', level })).lines[0]?.level).toBe('info');
    }
    for (const level of ['debug', 'warn', 'error'] satisfies Json[]) {
      expect((await logged({ message: 'x', level })).lines[0]?.level).toBe(level);
    }
  });

  it('cuts the written line to 8 KiB between two characters and keeps the result whole', async () => {
    const message = '€'.repeat(5000);
    const { output, lines } = await logged({ message });
    expect(output).toEqual({ message });
    expect(lines[0]?.message).toBe('€'.repeat(2730));
  });
});

describe('fail', () => {
  it('fails permanently with "forced failure" when nothing is said', async () => {
    expect(await failHandler.run(stepCall({}))).toEqual({
      ok: false,
      failure: { message: 'forced failure', retryable: false },
    });
  });

  it('fails with message, code, details and class as given [H-2]', async () => {
    const params = { message: 'out of clay', retryable: true, code: 'NO_CLAY', details: { left: 0 } };
    expect(await failHandler.run(stepCall(params))).toEqual({ ok: false, failure: params });
  });

  it('is retryable for true alone and ignores members of another type', async () => {
    const params = { message: 7, retryable: 'true', code: 5, details: null };
    expect(await failHandler.run(stepCall(params))).toEqual({
      ok: false,
      failure: { message: 'forced failure', retryable: false, details: null },
    });
  });
});

describe('transform', () => {
  it('returns any JSON as it is', async () => {
    for (const params of [null, 'text', [1, { a: null }], { deep: { er: [1.5] } }] satisfies Json[]) {
      expect(await transformHandler.run(stepCall(params))).toEqual({ ok: true, output: params });
    }
  });
});
