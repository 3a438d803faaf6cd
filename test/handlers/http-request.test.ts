import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { createHttpRequestHandler } from '../../src/engine/handlers/http-request.ts';
import type { StepCall } from '../../src/ports/step-handler.ts';
import { clientUnderTest } from '../http-client/client-under-test.ts';
import { loopbackServer } from '../http-client/loopback-server.ts';
import { manualClock } from '../http-client/manual-clock.ts';
import { stepCall } from './step-call.ts';

const handler = createHttpRequestHandler(clientUnderTest(), { allowInternal: true });
const strict = createHttpRequestHandler(clientUnderTest({ allowInternal: false }));
const send = async (params: Json, call: Partial<StepCall> = {}) => await handler.run(stepCall(params, call));

async function answering(
  status: number,
  body: string | Uint8Array = '',
  headers: Record<string, string> = {},
) {
  const server = await loopbackServer((_, response) => response.writeHead(status, headers).end(body));
  return { ...server, url: `http://127.0.0.1:${server.port}/rate` };
}

const failure = (code: string, retryable: boolean, more: Record<string, unknown> = {}) => ({
  ok: false,
  failure: { code, retryable, ...more },
});

describe('http_request params', () => {
  const url = 'https://rates.example/v1';
  it.each([
    ['method', { method: 'BREW', url: 'nonsense' }],
    ['method', { method: 7, url }],
    ['method', { method: '', url }],
    ['url', {}],
    ['url', { url: '' }],
    ['url', { url: 5 }],
    ['headers', { url, headers: ['x'] }],
    ['headers', { url, headers: { 'X-A': 'line\nbreak' } }],
    ['body', { url, body: { a: 1 } }],
    ['json', { url, body: 'x', json: null }],
    ['response_as', { url, response_as: 'xml' }],
    ['response_as', { url, response_as: 7 }],
  ] satisfies [string, Json][])('[H-3] names the unusable param %s %#', async (param, params) => {
    const message = expect.stringContaining(`http_request: ${param}`);
    expect(handler.checkParams?.(params)).toMatchObject({
      code: 'INVALID_PARAMS',
      retryable: false,
      message,
    });
    expect(await send(params)).toMatchObject(failure('INVALID_PARAMS', false));
    expect(await handler.dryRun?.(stepCall(params))).toMatchObject(failure('INVALID_PARAMS', false));
  });

  it('[HTTP-1] checks the method before the URL', () => {
    expect(strict.checkParams?.({ method: 'TRACE', url: 'file:///x' })).toMatchObject({
      code: 'INVALID_PARAMS',
    });
  });

  it.each([
    'file:///etc/passwd',
    'http://user@example.org/',
    'http://127.1/',
    'http://db.internal/',
    'not a url',
  ])('[HTTP-4] refuses %s with BLOCKED_URL before anything is sent, also in a dry run', async (blocked) => {
    const params = { url: blocked };
    expect(strict.checkParams?.(params)).toMatchObject({ code: 'BLOCKED_URL', retryable: false });
    const message = expect.stringContaining('blocked');
    expect(await strict.run(stepCall(params))).toMatchObject(failure('BLOCKED_URL', false, { message }));
    expect(await strict.dryRun?.(stepCall(params))).toMatchObject(failure('BLOCKED_URL', false));
  });

  it('reads null as absent and ignores what it does not know', () => {
    const params = { url, method: null, headers: null, body: null, response_as: null, colour: 'red' };
    expect(handler.checkParams?.(params)).toBeNull();
    expect(handler.checkParams?.({ url, body: null, json: null })).toBeNull();
  });

  it('[HTTP-5] answers a dry run with the stub and sends nothing', async () => {
    const server = await answering(200);
    const params = { url: server.url, method: 'post', body: 'x' };
    expect(await handler.dryRun?.(stepCall(params, { dryRun: true }))).toEqual({
      ok: true,
      output: {
        dry_run: true,
        handler: 'http_request',
        would: { method: 'POST', url: server.url },
        status: 0,
        body: '',
      },
    });
    expect(server.connectionCount()).toBe(0);
  });
});

describe('http_request sends', () => {
  it('a GET without body and idempotency key by default', async () => {
    const server = await answering(200, 'ok');
    expect(await send({ url: server.url })).toEqual({ ok: true, output: { status: 200, body: 'ok' } });
    expect(server.seen[0]).toMatchObject({ method: 'GET', body: '' });
    expect(server.seen[0]?.headers['idempotency-key']).toBeUndefined();
    expect(server.seen[0]?.headers['content-type']).toBeUndefined();
  });

  it('[NET-9] the idempotency key with other methods, unless the author sets one', async () => {
    const server = await answering(200);
    await send({ url: server.url, method: 'put' });
    await send({ url: server.url, method: 'DELETE', headers: { 'idempotency-key': 'mine' } });
    await send({ url: server.url, method: 'POST' }, { idempotencyKey: 'i:r:schritt größe:-' });
    expect(server.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([
      'instance:run:leaf:-',
      'mine',
      'i%3Ar%3Aschritt%20gr%C3%B6%C3%9Fe%3A-',
    ]);
  });

  it("[HTTP-2] a content type with a body, the author's if there is one", async () => {
    const server = await answering(200);
    await send({ url: server.url, method: 'POST', body: '{"a":1}' });
    await send({ url: server.url, method: 'POST', body: 'a=1', headers: { 'content-TYPE': 'text/csv' } });
    await send({ url: server.url, method: 'POST', body: '' });
    expect(server.seen.map(({ headers, body }) => [headers['content-type'], body])).toEqual([
      ['application/json', '{"a":1}'],
      ['text/csv', 'a=1'],
      [undefined, ''],
    ]);
  });

  it('json as canonical JSON, null included', async () => {
    const server = await answering(200);
    await send({ url: server.url, method: 'PATCH', json: { b: 1, a: ['é'] } });
    await send({ url: server.url, method: 'POST', json: null });
    expect(server.seen.map(({ headers, body }) => [headers['content-type'], body])).toEqual([
      ['application/json', '{"a":["é"],"b":1}'],
      ['application/json', 'null'],
    ]);
  });

  it("none of the author's own headers to another origin, as any may hold a credential [NET-4]", async () => {
    const target = await answering(200);
    const origin = await answering(307, '', { location: target.url });
    const headers = { 'X-Key': 'secret', Authorization: 'secret', Accept: 'text/plain' };
    await send({ url: origin.url, method: 'POST', body: 'x', headers });
    expect(origin.seen[0]?.headers).toMatchObject({ 'x-key': 'secret', authorization: 'secret' });
    expect(target.seen[0]?.headers).toMatchObject({
      accept: 'text/plain',
      'content-type': 'application/json',
      'idempotency-key': 'instance:run:leaf:-',
    });
    expect(JSON.stringify(target.seen[0])).not.toContain('secret');
  });
});

describe('http_request results', () => {
  it.each([200, 204, 299, 300, 304, 399])('[HTTP-3] takes status %d as success', async (status) => {
    const { url } = await answering(status);
    expect(await send({ url })).toEqual({ ok: true, output: { status, body: '' } });
  });

  it('[HTTP-3] makes U+FFFD of bytes that are not UTF-8 and of NUL, and keeps a byte order mark', async () => {
    const { url } = await answering(200, Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x00, 0x62]));
    expect(await send({ url })).toEqual({ ok: true, output: { status: 200, body: '\ufeffa\ufffd\ufffdb' } });
  });

  it('[HTTP-3] parses the body when asked for JSON', async () => {
    const { url } = await answering(200, '\ufeff{"eur": 1.08, "__proto__": {"x": 1}}');
    const outcome = await send({ url, response_as: 'json' });
    expect(outcome.ok && JSON.stringify(outcome.output)).toBe(
      '{"status":200,"body":{"eur":1.08,"__proto__":{"x":1}}}',
    );
  });

  it.each(['', 'no json', '{"a":1', '"nul\\u0000"', '"\\ud800"', '1e999', '['.repeat(65) + ']'.repeat(65)])(
    '[HTTP-3] fails permanently with BAD_RESPONSE for the JSON body %j',
    async (body) => {
      const { url } = await answering(201, body);
      const details = { status: 201 };
      expect(await send({ url, response_as: 'json' })).toMatchObject(
        failure('BAD_RESPONSE', false, { details }),
      );
    },
  );

  it.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, false],
    [425, true],
    [429, true],
    [499, false],
    [500, true],
    [503, true],
    [599, true],
  ])('[HTTP-4] makes HTTP_ERROR of status %d, retryable: %s', async (status, retryable) => {
    const { url } = await answering(status, 'because');
    expect(await send({ url: `${url}?key=secret` })).toEqual({
      ok: false,
      failure: {
        message: `http_request: GET ${url} answered ${status}`,
        retryable,
        code: 'HTTP_ERROR',
        details: { status, body: 'because' },
      },
    });
  });

  it('[HTTP-4] cuts the body of a failure to 64 KiB between two characters', async () => {
    const { url } = await answering(500, '€'.repeat(30_000));
    const outcome = await send({ url });
    expect(outcome).toMatchObject({ failure: { details: { body: '€'.repeat(21_845) } } });
  });

  it.each([
    [429, '7', 7000],
    [408, '0', 0],
    [425, ' 2 ', 2000],
    [503, '120', 120_000],
    [429, 'Sat, 01 May 2027 10:00:30 GMT', 30_000],
    [429, 'Sat, 01 May 2027 09:00:00 GMT', 0],
    [429, '9999999999', 315_360_000_000],
    [429, '-1', null],
    [429, '1.5', null],
    [429, 'soon', null],
    [429, 'Sat, 99 May 2027 10:00:30 GMT', null],
    [429, '2027-05-01', null],
    [500, '7', null],
    [404, '7', null],
  ])('[HTTP-4] reads Retry-After of %d: %s as %s ms', async (status, retryAfter, waitMs) => {
    const { url } = await answering(status, '', { 'retry-after': retryAfter });
    const outcome = await send({ url });
    const seen = outcome.ok ? null : outcome.failure;
    expect(seen?.retryAfterMs ?? null).toBe(waitMs);
    expect(seen?.details).toEqual(
      waitMs === null ? { status, body: '' } : { status, body: '', retry_after_ms: waitMs },
    );
  });

  it('[HTTP-4] refuses a body over max_response_bytes with RESPONSE_TOO_LARGE', async () => {
    const { url } = await answering(200, 'x'.repeat(100));
    const tooLarge = failure('RESPONSE_TOO_LARGE', false);
    expect(await send({ url, max_response_bytes: 99 })).toMatchObject(tooLarge);
    expect(await send({ url, max_response_bytes: 100 })).toMatchObject({ ok: true });
    // H-7: what is no count counts as absent; more than the ceiling is the ceiling.
    for (const other of [-1, 1.5, '99', null, 1e15]) {
      expect(await send({ url, max_response_bytes: other })).toMatchObject({ ok: true });
    }
    const large = await answering(200, 'x'.repeat(10 * 1024 * 1024 + 1));
    expect(await send({ url: large.url, max_response_bytes: 20_000_000 })).toMatchObject(tooLarge);
  });

  it('[HTTP-4] makes retryable failures of errors on the way', async () => {
    expect(await send({ url: 'http://127.0.0.1:1/' })).toMatchObject(failure('NETWORK_ERROR', true));
    const nameless = createHttpRequestHandler(clientUnderTest({ resolve: async () => [] }));
    const params = { url: 'http://nowhere.example.org/' };
    expect(await nameless.run(stepCall(params))).toMatchObject(failure('DNS_ERROR', true));
    const rebound = createHttpRequestHandler(
      clientUnderTest({ allowInternal: false, resolve: async () => [{ address: '10.0.0.1', family: 4 }] }),
    );
    expect(await rebound.run(stepCall(params))).toMatchObject(failure('BLOCKED_URL', false));
  });

  it('[HTTP-4] times out after timeout_ms, bounded by the time the call has left', async () => {
    const clock = manualClock();
    const waiting: number[][] = [];
    const server = await loopbackServer(() => {
      waiting.push(clock.waiting());
      clock.fire();
    });
    const timed = createHttpRequestHandler(clientUnderTest({ clock }), { allowInternal: true });
    const url = `http://127.0.0.1:${server.port}/`;
    const run = async (params: Json, remainingMs: number) =>
      await timed.run(stepCall(params, { remainingTimeMs: () => remainingMs }));
    expect(await run({ url }, 60_000)).toMatchObject(failure('TIMEOUT', true));
    await run({ url, timeout_ms: 50 }, 60_000);
    await run({ url, timeout_ms: 50_000 }, 700);
    await run({ url, timeout_ms: 'long' }, 60_000);
    await run({ url }, -5);
    expect(waiting).toEqual([[10_000], [50], [700], [10_000], [0]]);
  });

  it('aborts with the call [H-6]', async () => {
    const stop = new AbortController();
    const server = await loopbackServer(() => stop.abort());
    const params = { url: `http://127.0.0.1:${server.port}/` };
    expect(await send(params, { signal: stop.signal })).toMatchObject(failure('TIMEOUT', true));
    await server.connectionClosed;
  });
});
