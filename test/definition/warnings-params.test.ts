import { describe, expect, it } from 'vitest';
import { BUILT_IN_PARAMS } from '../../src/core/definition/built-in-params.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { builtInHandlers } from '../../src/engine/handlers/built-in.ts';
import { ENGINE_EXECUTED_NAMES } from '../../src/engine/handlers/handler-names.ts';
import { codesOf, documentOf, step, warningsOf } from './documents.ts';

const warned = (handler: string, params: Json, members: JsonObject = {}) =>
  warningsOf(documentOf([step('a', { handler, params, ...members })])).map(
    ({ code, path, message }) => `${code} ${path}: ${message}`,
  );

describe('warnings about params of built-in handlers', () => {
  it('a sleep with a mistaken duration is told what it takes and how long it will sleep', () => {
    const missing =
      "missing_param blocks[0].params: 'sleep' needs the param duration_ms; without it the default of 100 milliseconds is used";
    expect(warned('sleep', { seconds: 172_800 })).toEqual([
      missing,
      "unknown_param blocks[0].params.seconds: 'sleep' has no param 'seconds', it is ignored; it takes duration_ms (milliseconds)",
    ]);
    expect(warned('sleep', { duration: '2d' })[1]).toContain("no param 'duration', it is ignored; it takes");
    expect(warned('sleep', { duration_m: 5 })[1]).toContain("did you mean 'duration_ms'?");
    expect(warned('sleep', {})).toEqual([missing]);
    for (const bad of ['2d', 1.5, -1, null, true, 1e15]) {
      expect(warned('sleep', { duration_ms: bad })).toEqual([
        "bad_param blocks[0].params.duration_ms: 'sleep' cannot use this duration_ms; it takes: whole number, milliseconds, at most 315360000000 (default 100 milliseconds)",
      ]);
    }
  });

  it('a value with a template counts as given and as fitting', () => {
    expect(warned('sleep', { duration_ms: '{{data.pause}}' })).toEqual([]);
    expect(warned('sleep', '{{data.sleep}}')).toEqual([]);
    expect(warned('http_request', { url: '{{data.url}}', method: '{{data.method}}' })).toEqual([]);
  });

  it('every closed handler questions a param that it does not read', () => {
    const silent = Object.entries(BUILT_IN_PARAMS).flatMap(([handler, { needs, ...facts }]) => {
      const params = Object.fromEntries([...needs.flat(), 'zzzzzz'].map((name) => [name, '{{data.x}}']));
      const found = codesOf([step('a', { handler, params })]).filter((code) => /_param$/.test(code));
      return found.join() === ('open' in facts ? '' : 'unknown_param') ? [] : [handler];
    });
    expect(silent).toEqual([]);
    expect(warned('log', { mesage: 'x' })).toEqual([
      "unknown_param blocks[0].params.mesage: 'log' has no param 'mesage', it is ignored; did you mean 'message'?",
    ]);
    expect(warned('noop', { any: 1 }).concat(warned('transform', { any: 1 }))).toEqual([]);
  });

  it('texts of a fixed set, kinds and limits are looked at; null is absent where a param may be', () => {
    expect(warned('http_request', { url: 'https://a.example', method: 'get', body: null })).toEqual([]);
    expect(warned('http_request', { url: 'https://a.example', method: 'FETCH' })[0]).toContain(
      '"GET" or "POST"',
    );
    expect(warned('http_request', { url: '', timeout_ms: '5s' }).map((text) => text.split(':')[0])).toEqual([
      'bad_param blocks[0].params.url',
      'bad_param blocks[0].params.timeout_ms',
    ]);
    expect(warned('human_review', { instructions: '' })).toEqual([]);
    expect(warned('fail', { retryable: true, details: [1] })).toEqual([]);
    expect(warned('fail', { retryable: 'yes' })).toEqual([
      "bad_param blocks[0].params.retryable: 'fail' cannot use this retryable; it takes: true or false (default false)",
    ]);
    expect(warned('self_modify', { blocks: {}, position: 0 })[0]).toContain('it takes: list');
    expect(warned('send_signal', { instance_id: 'x', signal_type: { custom: 'go' } })).toEqual([]);
  });

  it('params that a fallback handler may read are not questioned', () => {
    const params = { url: 'https://a.example', region: 'eu' };
    expect(codesOf([step('a', { handler: 'http_request', params, fallback_handler: 'cached' })])).toEqual([]);
    expect(codesOf([step('a', { handler: 'http_request', params, fallback_handler: 'log' })])).toEqual([
      'unknown_param',
    ]);
  });

  it('escalations and called interceptors are looked at as well', () => {
    const breach = { handler: 'log', params: { text: 'late' } };
    const interceptors = { after_step: { handler: 'log', params: { text: 'x' }, invoke: true } };
    const body = documentOf([step('a', { deadline: 5, on_deadline_breach: breach })], { interceptors });
    expect(warningsOf(body).map(({ code, path }) => `${code} ${path}`)).toEqual([
      'unknown_param interceptors.after_step.params.text',
      'unknown_param blocks[0].on_deadline_breach.params.text',
    ]);
  });

  it('the table names all handlers that this version has, and no other', () => {
    const handlers = builtInHandlers({
      effects: { send: () => Promise.reject(new Error('unused')) },
      entropy: { bytes: (length) => new Uint8Array(length) },
    });
    const names = [...handlers.map(({ name }) => name), ...ENGINE_EXECUTED_NAMES];
    expect(Object.keys(BUILT_IN_PARAMS).sort()).toEqual(names.sort());
  });
});
