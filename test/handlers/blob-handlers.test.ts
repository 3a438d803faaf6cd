import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { blobGetHandler, blobPutHandler } from '../../src/engine/handlers/blobs.ts';
import { createHttpRequestHandler } from '../../src/engine/handlers/http-request.ts';
import type { StepCall } from '../../src/ports/step-handler.ts';
import { artifactServices } from './artifact-services.ts';
import { stepCall } from './step-call.ts';

let services: ReturnType<typeof artifactServices>;
beforeEach(() => {
  services = artifactServices();
});

const put = async (params: Json, call: Partial<StepCall> = {}) =>
  await blobPutHandler.run(stepCall(params, { services, ...call }));
const get = async (params: Json, call: Partial<StepCall> = {}) =>
  await blobGetHandler.run(stepCall(params, { services, ...call }));
const outputOf = (outcome: Awaited<ReturnType<typeof put>>): Record<string, Json> => {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.output as Record<string, Json>;
};
const INSTANCE = stepCall({}).instanceId;

describe('blob_put and blob_get (handlers.md 9)', () => {
  it('keeps a text and gives it back as text or base64', async () => {
    const output = outputOf(await put({ text: 'Grüße' }));
    const reference = output['artifact'] as Record<string, Json>;
    expect(output).toEqual({
      artifact: {
        key: expect.stringMatching(new RegExp(`^${INSTANCE}/[0-9a-f]+$`)),
        content_type: 'text/plain; charset=utf-8',
        size: 7,
        sha256: createHash('sha256').update('Grüße').digest('hex'),
      },
      key: reference['key'],
      size: 7,
      content_type: 'text/plain; charset=utf-8',
    });
    for (const ref of [reference, reference['key'] ?? null, { artifact: reference }]) {
      expect(outputOf(await get({ ref, encoding: 'utf8' }))).toEqual({
        text: 'Grüße',
        encoding: 'utf8',
        size: 7,
      });
    }
    expect(outputOf(await get({ ref: reference, encoding: 'text' }))).toMatchObject({ text: 'Grüße' });
    const base64 = Buffer.from('Grüße').toString('base64');
    expect(outputOf(await get({ ref: reference }))).toEqual({ data: base64, encoding: 'base64', size: 7 });
  });

  it('takes base64 data, text wins over it, and a content type of its own', async () => {
    const bytes = outputOf(await put({ data: 'AP8H', content_type: 'image/png' }));
    expect(bytes).toMatchObject({ size: 3, content_type: 'image/png' });
    expect(outputOf(await put({ data: 'AP8H' }))).toMatchObject({ content_type: 'application/octet-stream' });
    expect(outputOf(await put({ data: '!', text: '' }))).toMatchObject({ size: 0 });
  });

  it('repeated attempts of one step write the same artifact', async () => {
    const [first, second] = [
      await put({ text: 'a' }),
      await put({ text: 'b' }, { attempt: 1, redelivery: true }),
    ];
    expect(outputOf(first)['key']).toBe(outputOf(second)['key']);
    expect(services.stored.size).toBe(1);
    const other = await put({ text: 'c' }, { idempotencyKey: 'another' });
    expect(outputOf(other)['key']).not.toBe(outputOf(first)['key']);
  });

  it.each<readonly [string, Json, string]>([
    ['neither input', {}, 'INVALID_PARAMS'],
    ['a text that is none', { text: 7 }, 'INVALID_PARAMS'],
    ['invalid base64', { data: 'abc' }, 'INVALID_PARAMS'],
    ['too much', { text: 'abcd', max_size_bytes: 3 }, 'INVALID_PARAMS'],
  ])('blob_put refuses %s permanently', async (_, params, code) => {
    expect(await put(params)).toMatchObject({ ok: false, failure: { code, retryable: false } });
  });

  it.each<readonly [string, Json, string]>([
    ['no reference', {}, 'INVALID_PARAMS'],
    ['an unknown encoding', { ref: 'a/b', encoding: 'latin1' }, 'INVALID_PARAMS'],
    ['a key without instance', { ref: 'b' }, 'INVALID_PARAMS'],
    ['an artifact of another instance', { ref: '01890000-0000-7000-8000-0000000000ff/a' }, 'FORBIDDEN'],
    ['an artifact that is not there', { ref: `${INSTANCE}/a` }, 'TARGET_NOT_FOUND'],
  ])('blob_get refuses %s permanently', async (_, params, code) => {
    expect(await get(params)).toMatchObject({ ok: false, failure: { code, retryable: false } });
  });

  it('blob_get refuses what is larger than asked for, and bytes that are no text', async () => {
    const key = outputOf(await put({ data: 'AP8H' }))['key'] ?? null;
    expect(await get({ ref: key, max_size_bytes: 2 })).toMatchObject({
      failure: { code: 'RESPONSE_TOO_LARGE' },
    });
    expect(await get({ ref: key, encoding: 'utf8' })).toMatchObject({
      failure: { code: 'BAD_RESPONSE', retryable: false },
    });
  });

  it('an error of the store is worth another try [H-4]', async () => {
    const broken = { ...services, putBlob: () => Promise.reject(new Error('host db-1 is down')) };
    const outcome = await put({ text: 'a' }, { services: broken });
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'STORAGE_ERROR', retryable: true } });
    expect(JSON.stringify(outcome)).not.toContain('db-1');
  });

  it('a dry run of blob_put stores nothing', async () => {
    const outcome = await blobPutHandler.dryRun?.(stepCall({ text: 'abc' }, { services }));
    expect(outcome).toEqual({
      ok: true,
      output: { dry_run: true, handler: 'blob_put', size: 3, content_type: 'text/plain; charset=utf-8' },
    });
    expect(services.stored.size).toBe(0);
  });

  it('http_request keeps a response as an artifact [HTTP-3]', async () => {
    const body = new Uint8Array([0, 255, 7]);
    const headers = [['Content-Type', 'image/png']] as const;
    const http = createHttpRequestHandler({ send: async () => ({ ok: true, status: 200, headers, body }) });
    const params = { url: 'https://rates.example/pic', response_as: 'artifact' };
    const output = outputOf(await http.run(stepCall(params, { services })));
    expect(output).toMatchObject({ status: 200, artifact: { content_type: 'image/png', size: 3 } });
    expect(output).not.toHaveProperty('body');
    expect(outputOf(await get({ ref: output }))).toMatchObject({ data: 'AP8H' });
  });
});
