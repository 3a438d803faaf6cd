import { describe, expect, it } from 'vitest';
import { type Json, member } from '../../src/core/json.ts';
import { blobPutHandler } from '../../src/engine/handlers/blobs.ts';
import { createToolCallHandler } from '../../src/engine/handlers/tool-call.ts';
import type { OutboundRequest, OutboundResult } from '../../src/ports/effects.ts';
import type { StepCall } from '../../src/ports/step-handler.ts';
import { artifactServices } from './artifact-services.ts';
import { stepCall } from './step-call.ts';

const url = 'https://tools.example/weather?token=t';

function tool(
  answer: {
    readonly status?: number;
    readonly body?: string;
    readonly headers?: OutboundRequest['headers'];
  } = {},
) {
  const requests: OutboundRequest[] = [];
  const services = artifactServices();
  const { status = 200, body = '{"temp":7}', headers = [] } = answer;
  const handler = createToolCallHandler({
    send: async (request): Promise<OutboundResult> => {
      requests.push(request);
      return { ok: true, status, headers, body: new TextEncoder().encode(body) };
    },
  });
  const run = async (params: Json, call: Partial<StepCall> = {}) =>
    await handler.run(stepCall(params, { services, ...call }));
  return { handler, requests, services, run };
}

describe('tool_call (handlers.md 5.2)', () => {
  it('sends the envelope by POST and answers with the parsed result [TOOL-1] [TOOL-2]', async () => {
    const { run, requests } = tool();
    const params = { url, tool_name: 'weather', arguments: { city: 'Porto' }, headers: { 'X-Key': 'k' } };
    expect(await run(params, { attempt: 2 })).toEqual({
      ok: true,
      output: { tool_name: 'weather', result: { temp: 7 }, status: 200 },
    });
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', url, timeoutMs: 30_000, maxResponseBytes: 10_485_760 });
    expect(JSON.parse(String(request?.body))).toEqual({
      tool_name: 'weather',
      arguments: { city: 'Porto' },
      context: { instance_id: stepCall({}).instanceId, block_id: 'leaf', attempt: 2 },
    });
    expect(request?.headers).toEqual([
      ['X-Key', 'k'],
      ['Content-Type', 'application/json'],
      ['Idempotency-Key', 'instance:run:leaf:-'],
    ]);
    expect(request?.secretHeaders).toEqual(['X-Key']);
  });

  it('a GET carries no envelope, an empty body is null, a name is not needed [TOOL-1] [TOOL-2]', async () => {
    const { run, requests } = tool({ body: '', status: 302 });
    expect(await run({ url, method: 'get' })).toEqual({
      ok: true,
      output: { tool_name: 'unknown', result: null, status: 302 },
    });
    expect(requests[0]).not.toHaveProperty('body');
    await run({ url });
    expect(JSON.parse(String(requests[1]?.body))).toMatchObject({ arguments: {} });
  });

  it('a body that is not JSON is BAD_RESPONSE with its beginning [TOOL-2]', async () => {
    const failed = await tool({ body: `<html>${'ä'.repeat(600)}` }).run({ url });
    expect(failed).toMatchObject({
      ok: false,
      failure: { code: 'BAD_RESPONSE', retryable: false, details: { status: 200 } },
    });
    const preview = failed.ok ? null : member(failed.failure.details, 'body_preview');
    if (typeof preview !== 'string') throw new Error('there is no preview');
    expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(512);
    expect(preview.startsWith('<html>')).toBe(true);
    expect(JSON.stringify(failed)).not.toContain('token=t');
  });

  it.each([
    [400, false],
    [404, false],
    [408, true],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
  ])(
    'status %i is HTTP_ERROR, retryable: %s, with the body parsed where it can be [TOOL-3]',
    async (status, retryable) => {
      const headers = [['Retry-After', '3']] as const;
      const { run } = tool({ status, body: '{"why":"busy"}', headers });
      expect(await run({ url })).toMatchObject({
        ok: false,
        failure: { code: 'HTTP_ERROR', retryable, details: { status, body: { why: 'busy' } } },
      });
      const plain = await tool({ status, body: 'busy' }).run({ url });
      expect(plain).toMatchObject({ failure: { details: { status, body: 'busy' } } });
    },
  );

  it('keeps a 2xx body as an artifact when asked to [TOOL-4]', async () => {
    const { run, services } = tool({ body: 'PDF', headers: [['content-type', 'application/pdf']] });
    expect(await run({ url, response_as: 'artifact', tool_name: 'print' })).toMatchObject({
      ok: true,
      output: { tool_name: 'print', status: 200, artifact: { content_type: 'application/pdf', size: 3 } },
    });
    expect([...services.stored.values()].map(({ size }) => size)).toEqual([3]);
  });

  it('sends the bytes of an artifact, raw or as a file of a form [TOOL-4]', async () => {
    const { run, requests, services } = tool();
    const put = await blobPutHandler.run(stepCall({ text: 'label', content_type: 'text/csv' }, { services }));
    const artifact = put.ok ? (put.output as Record<string, Json>) : {};
    await run({ url, body_artifact: artifact });
    expect(new TextDecoder().decode(requests[0]?.body as Uint8Array)).toBe('label');
    expect(requests[0]?.headers).toContainEqual(['Content-Type', 'text/csv']);
    await run({
      url,
      body_artifact: artifact,
      upload: { mode: 'multipart', field: 'doc', filename: 'a"b.csv' },
    });
    const type = requests[1]?.headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
    const boundary = type.replace('multipart/form-data; boundary=', '');
    expect(new TextDecoder().decode(requests[1]?.body as Uint8Array)).toBe(
      `--${boundary}\r\nContent-Disposition: form-data; name="doc"; filename="a%22b.csv"\r\n` +
        `Content-Type: text/csv\r\n\r\nlabel\r\n--${boundary}--\r\n`,
    );
  });

  it('an artifact of another instance is FORBIDDEN [TOOL-4]', async () => {
    const { run, requests } = tool();
    const body_artifact = '01890000-0000-7000-8000-0000000000ff/a';
    expect(await run({ url, body_artifact })).toMatchObject({
      failure: { code: 'FORBIDDEN', retryable: false },
    });
    expect(requests).toEqual([]);
  });

  it.each<readonly [string, Json, string]>([
    ['no url', {}, 'INVALID_PARAMS'],
    ['an unknown method', { url, method: 'HEAD' }, 'INVALID_PARAMS'],
    ['a blocked url', { url: 'http://10.0.0.1/' }, 'BLOCKED_URL'],
    ['unusable headers', { url, headers: [] }, 'INVALID_PARAMS'],
    ['an unknown response_as', { url, response_as: 'text' }, 'INVALID_PARAMS'],
    ['an unknown upload', { url, upload: { mode: 'ftp' } }, 'INVALID_PARAMS'],
    ['an unusable artifact', { url, body_artifact: 7 }, 'INVALID_PARAMS'],
  ])('refuses %s before anything is sent [H-3]', async (_, params, code) => {
    const { run, handler, requests } = tool();
    expect(await run(params)).toMatchObject({ ok: false, failure: { code, retryable: false } });
    expect(handler.checkParams?.(params)).toMatchObject({ code });
    expect(await handler.dryRun?.(stepCall(params))).toMatchObject({ failure: { code } });
    expect(requests).toEqual([]);
  });

  it('a dry run says what would be called [TOOL-5]', async () => {
    const { handler, requests } = tool();
    expect(await handler.dryRun?.(stepCall({ url, tool_name: 'weather' }))).toEqual({
      ok: true,
      output: {
        dry_run: true,
        handler: 'tool_call',
        would: { url, method: 'POST' },
        tool_name: 'weather',
        result: null,
      },
    });
    expect(requests).toEqual([]);
  });
});
