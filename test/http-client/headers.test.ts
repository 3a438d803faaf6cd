import { describe, expect, it } from 'vitest';
import {
  carriesIdempotencyKey,
  cleanHeaders,
  type Header,
  headerTexts,
  withDefaultHeader,
  withoutCredentials,
} from '../../src/core/network/outbound-headers.ts';
import { clientUnderTest, outboundRequest } from './client-under-test.ts';
import { loopbackServer } from './loopback-server.ts';

describe('header rules', () => {
  it.each([
    'Host',
    'CONTENT-LENGTH',
    'Transfer-Encoding',
    'connection',
    'Upgrade',
    'Proxy-Authorization',
    'proxy-connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Expect',
    'HTTP2-Settings',
    'X-Forwarded-For',
    'x-forwarded-host',
    'Forwarded',
    'two words',
    'colon:',
    'line\r\nbreak',
    'nul\u0000',
    'ünicode',
    '',
  ])('[NET-5] drops a header called %j (X47)', (name) => {
    expect(
      cleanHeaders([
        [name, 'x'],
        ['X-Kept', 'y'],
      ]),
    ).toEqual({ ok: true, value: [['X-Kept', 'y']] });
  });

  it.each(['a\rb', 'a\nb', 'a\r\nX-Evil: 1', 'nul\u0000', 'bell\u0007', 'del\u007f', 'euro €'])(
    '[NET-5] refuses the value %j and does not repeat it (X47)',
    (value) => {
      expect(cleanHeaders([['X-Name', value]])).toEqual({
        ok: false,
        error: 'header X-Name has a value with characters that are not allowed',
      });
    },
  );

  it('takes any token as a name, __proto__ too, and Latin-1 in values', () => {
    const headers: Header[] = [
      ['__proto__', 'x'],
      ["a!#$%&'*+.^_`|~9", 'tab\tand é'],
      ['X-Empty', ''],
    ];
    expect(cleanHeaders(headers)).toEqual({ ok: true, value: headers });
  });

  it('sends a name once, with the later value', () => {
    expect(
      cleanHeaders([
        ['X-A', '1'],
        ['x-a', '2'],
      ]),
    ).toEqual({ ok: true, value: [['x-a', '2']] });
  });

  it('[NET-5] writes numbers and booleans as text and ignores other values', () => {
    const members = Object.entries({ a: 'x', b: 1.5, c: true, d: null, e: ['x'], f: { g: 1 }, h: undefined });
    expect(headerTexts(members)).toEqual([
      ['a', 'x'],
      ['b', '1.5'],
      ['c', 'true'],
    ]);
  });

  it('adds a default only when the author has not set the header', () => {
    expect(withDefaultHeader([['ACCEPT', 'x']], 'Accept', 'y')).toEqual([['ACCEPT', 'x']]);
    expect(withDefaultHeader([], 'Accept', 'y')).toEqual([['Accept', 'y']]);
  });

  it('[NET-4] knows credential headers in any letter case', () => {
    const headers: Header[] = [
      ['AUTHORIZATION', '1'],
      ['cookie', '2'],
      ['Proxy-Authorization', '3'],
      ['X-Key', '4'],
      ['X-Other', '5'],
    ];
    expect(withoutCredentials(headers, ['X-KEY'])).toEqual([['X-Other', '5']]);
  });

  it('[NET-9] gives an idempotency key to methods other than GET and HEAD', () => {
    expect(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(carriesIdempotencyKey)).toEqual([
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
    ]);
  });
});

describe('headers on the wire', () => {
  it('[NET-9] carries the user agent and what is accepted', async () => {
    const server = await loopbackServer((_, response) => response.end());
    await clientUnderTest().send(outboundRequest(`http://127.0.0.1:${server.port}/a?b=c`));
    expect(server.seen[0]).toMatchObject({
      url: '/a?b=c',
      headers: { 'user-agent': 'stepwell/0.0.0-test', accept: '*/*', 'accept-encoding': 'gzip, deflate, br' },
    });
  });

  it('lets the author replace the defaults but not the framing', async () => {
    const server = await loopbackServer((_, response) => response.end());
    const headers: Header[] = [
      ['User-Agent', 'mine'],
      ['Accept', 'text/csv'],
      ['Host', 'evil.test'],
      ['Content-Length', '9999'],
      ['Transfer-Encoding', 'chunked'],
      ['__proto__', 'plain'],
    ];
    const request = { method: 'DELETE', headers, body: 'größe' };
    await clientUnderTest().send(outboundRequest(`http://127.0.0.1:${server.port}/`, request));
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'DELETE', body: 'größe' });
    expect(seen?.headers).toMatchObject({
      'user-agent': 'mine',
      accept: 'text/csv',
      host: `127.0.0.1:${server.port}`,
      'content-length': '7',
    });
    expect(seen?.headers['transfer-encoding']).toBeUndefined();
  });

  it('refuses a value with a line break instead of sending it', async () => {
    const server = await loopbackServer((_, response) => response.end());
    const headers: Header[] = [['X-Name', 'a\r\nX-Evil: 1']];
    const result = await clientUnderTest().send(
      outboundRequest(`http://127.0.0.1:${server.port}/`, { headers }),
    );
    expect(result).toMatchObject({ ok: false, reason: 'blocked' });
    expect(server.connectionCount()).toBe(0);
  });

  it('gives every header of the answer, repeated ones too', async () => {
    const server = await loopbackServer((_, response) =>
      response.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'] }).end(),
    );
    const result = await clientUnderTest().send(outboundRequest(`http://127.0.0.1:${server.port}/`));
    const cookies = result.ok ? result.headers.filter(([name]) => name === 'Set-Cookie') : [];
    expect(cookies).toEqual([
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ]);
  });
});
