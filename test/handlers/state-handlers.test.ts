import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import {
  deleteStateHandler,
  getStateHandler,
  mergeStateHandler,
  setStateHandler,
} from '../../src/engine/handlers/state.ts';
import type { StepHandler } from '../../src/ports/step-handler.ts';
import { stateOf, stepCall } from './step-call.ts';

const refusal = (code: string) => ({ ok: false, failure: { retryable: false, code } });
const big = 'x'.repeat(1024 * 1024 - 2);

describe('state handlers', () => {
  it('set_state returns key and value and writes with the step [H-5]', async () => {
    for (const value of [null, 0, 'text', { deep: [1] }] satisfies Json[]) {
      expect(await setStateHandler.run(stepCall({ key: 'cursor', value }))).toEqual({
        ok: true,
        output: { key: 'cursor', value },
        writes: [{ type: 'state_set', key: 'cursor', value }],
      });
    }
  });

  it('get_state returns the value, null for an unknown key, and writes nothing', async () => {
    const state = stateOf({ cursor: 'c-17', nothing: null });
    const read = async (key: string) => await getStateHandler.run(stepCall({ key }, { state }));
    expect(await read('cursor')).toEqual({ ok: true, output: { key: 'cursor', value: 'c-17' } });
    expect(await read('nothing')).toEqual({ ok: true, output: { key: 'nothing', value: null } });
    expect(await read('unknown')).toEqual({ ok: true, output: { key: 'unknown', value: null } });
  });

  it('get_state reads reserved keys as null without looking', async () => {
    const state = stateOf({ '__cache__:x': 1 });
    expect(await getStateHandler.run(stepCall({ key: '__cache__:x' }, { state }))).toEqual({
      ok: true,
      output: { key: '__cache__:x', value: null },
    });
  });

  it('delete_state says deleted also for a key that is not there', async () => {
    expect(await deleteStateHandler.run(stepCall({ key: 'gone' }))).toEqual({
      ok: true,
      output: { key: 'gone', deleted: true },
      writes: [{ type: 'state_delete', key: 'gone' }],
    });
  });

  it('merge_state writes every member and lists the keys in code point order', async () => {
    const values = { b: { nested: { whole: true } }, a: 1, '\u{1f600}': 2, '\uffee': 3 };
    const keys = ['a', 'b', '\uffee', '\u{1f600}'];
    expect(await mergeStateHandler.run(stepCall({ values }))).toEqual({
      ok: true,
      output: { merged_keys: keys },
      writes: keys.map((key) => ({ type: 'state_set', key, value: values[key as keyof typeof values] })),
    });
    expect(await mergeStateHandler.run(stepCall({ values: {} }))).toEqual({
      ok: true,
      output: { merged_keys: [] },
      writes: [],
    });
  });

  it('merge_state keeps a member called __proto__ out, because its key is reserved', async () => {
    const values: Json = JSON.parse('{"__proto__": {"polluted": true}}');
    expect(await mergeStateHandler.run(stepCall({ values }))).toMatchObject(refusal('RESERVED_KEY'));
  });

  const reserved: [StepHandler, Json][] = [
    [setStateHandler, { key: '__x', value: 1 }],
    [deleteStateHandler, { key: '__cache__:y' }],
    [mergeStateHandler, { values: { fine: 1, __mem__: 2 } }],
  ];
  it.each(reserved)('$name refuses reserved keys with RESERVED_KEY', async (handler, params) => {
    expect(handler.checkParams?.(params)).toMatchObject({ code: 'RESERVED_KEY', retryable: false });
    expect(await handler.run(stepCall(params))).toMatchObject(refusal('RESERVED_KEY'));
  });

  const invalid: [StepHandler, Json][] = [
    [setStateHandler, { value: 1 }],
    [setStateHandler, { key: 'no value' }],
    [setStateHandler, { key: '', value: 1 }],
    [setStateHandler, { key: 7, value: 1 }],
    [setStateHandler, { key: 'é'.repeat(257), value: 1 }],
    [getStateHandler, {}],
    [getStateHandler, { key: 'k'.repeat(513) }],
    [deleteStateHandler, { key: null }],
    [mergeStateHandler, {}],
    [mergeStateHandler, { values: [1] }],
    [mergeStateHandler, { values: { '': 1 } }],
  ];
  it.each(invalid)('$name refuses unusable params %#', async (handler, params) => {
    const message = expect.stringContaining(handler.name);
    expect(handler.checkParams?.(params)).toMatchObject({
      code: 'INVALID_PARAMS',
      retryable: false,
      message,
    });
    expect(await handler.run(stepCall(params))).toMatchObject(refusal('INVALID_PARAMS'));
  });

  it('takes keys of up to 512 bytes', () => {
    expect(setStateHandler.checkParams?.({ key: 'é'.repeat(256), value: 1 })).toBeNull();
  });

  it('takes values of up to 1 MiB of canonical JSON and refuses larger ones with STATE_LIMIT', async () => {
    expect(setStateHandler.checkParams?.({ key: 'k', value: big })).toBeNull();
    expect(setStateHandler.checkParams?.({ key: 'k', value: `${big}x` })).toMatchObject({
      code: 'STATE_LIMIT',
    });
    expect(mergeStateHandler.checkParams?.({ values: { k: `${big}x` } })).toMatchObject({
      code: 'STATE_LIMIT',
    });
  });

  it('refuses key 10,001 with STATE_LIMIT and still overwrites when full', async () => {
    const full = stateOf({ old: 1 }, 9999);
    const almost = stateOf({ old: 1 }, 9998);
    const set = async (key: string, state = full) =>
      await setStateHandler.run(stepCall({ key, value: 2 }, { state }));
    expect(await set('new')).toMatchObject(refusal('STATE_LIMIT'));
    expect(await set('old')).toMatchObject({ ok: true });
    expect(await set('new', almost)).toMatchObject({ ok: true });
    const merge = async (values: Json, state = almost) =>
      await mergeStateHandler.run(stepCall({ values }, { state }));
    expect(await merge({ old: 2, one: 1 })).toMatchObject({ ok: true });
    expect(await merge({ one: 1, two: 2 })).toMatchObject(refusal('STATE_LIMIT'));
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, 1]));
    expect(await merge(many, stateOf(many))).toMatchObject(refusal('STATE_LIMIT'));
  });

  it('answers a lost store with a retryable STORAGE_ERROR without the text of the driver [H-4]', async () => {
    const state = {
      get: () => Promise.reject(new Error('connect to db.internal as admin failed')),
      count: () => Promise.reject(new Error('connect to db.internal as admin failed')),
    };
    const failure = { message: 'the state store could not be read', retryable: true, code: 'STORAGE_ERROR' };
    expect(await getStateHandler.run(stepCall({ key: 'k' }, { state }))).toEqual({ ok: false, failure });
    expect(await setStateHandler.run(stepCall({ key: 'k', value: 1 }, { state }))).toEqual({
      ok: false,
      failure,
    });
    const values = { k: 1 };
    expect(await mergeStateHandler.run(stepCall({ values }, { state }))).toEqual({ ok: false, failure });
  });
});
