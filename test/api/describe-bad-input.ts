import { beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../src/core/json.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { document, published, started } from './support/documents.ts';
import { waitingForWorker } from './support/seeded-runs.ts';

/**
 * What must never get in (issue point 9, RULINGS B11): the status and text are those of the contract, and nothing is
 * left behind.
 */
let api: ApiFixture;

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** Raw JSON that stands where a value is expected, with the answer it gets. */
const BAD_VALUES: ReadonlyArray<readonly [string, string, number]> = [
  ['NUL in a text', '"a\\u0000b"', 422],
  ['NUL in a key', '{"a\\u0000b":1}', 422],
  ['a raw NUL', '"a\u0000b"', 400],
  ['a lone high surrogate', '"\\ud800"', 422],
  ['a lone low surrogate', '"\\udc00"', 422],
  ['surrogates in the wrong order', '"\\udc00\\ud800"', 422],
  ['a lone surrogate in a key', '{"\\ud800":1}', 422],
  ['a number that overflows', '1e400', 422],
  ['a number with 131,072 digits', `1${'0'.repeat(131_071)}`, 422],
  ['1e131071', '1e131071', 422],
  ['an integer beyond 2^53-1', '12345678901234567890', 422],
  ['an integer beyond 2^53-1 with decimals', '9007199254740992.0', 422],
  ['NaN', 'NaN', 422],
  ['Infinity', '-Infinity', 422],
  ['nesting of 65 levels', nested(65), 422],
  ['nesting without end', '['.repeat(100_000), 422],
  ['too many elements', `[${'0,'.repeat(100_000)}0]`, 422],
  ['too many members', `{${Array.from({ length: 100_001 }, (_, index) => `"k${index}":0`).join()}}`, 422],
  ['an endless key', `{"${'k'.repeat(70_000)}":1}`, 422],
  ['a trailing comma', '[1,]', 400],
  ['two values', '1 2', 400],
  ['a comment', '/* */ 1', 400],
];

/** Registers the tests of bad and strange input over one kind of store. */
export function describeBadInput(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createFixture({}, { store: (await backend.fresh()).store });
  });

  describe('bad JSON', () => {
    it.each(BAD_VALUES)('%s is refused in the data of a start', async (_name, value, status) => {
      const sequenceId = await published(api);
      const raw = `{"sequence_id":"${sequenceId}","tenant_id":"${TENANT}","namespace":"n","context":{"data":{"v":${value}}}}`;
      await expectRefused('POST', '/instances', raw, status);
    });

    it.each(BAD_VALUES)('%s is refused in the payload of a signal', async (_name, value, status) => {
      const id = await started(api);
      await expectRefused(
        'POST',
        `/instances/${id}/signals`,
        `{"signal_type":"custom:x","payload":${value}}`,
        status,
      );
    });

    it.each(BAD_VALUES)('%s is refused in the output of a worker', async (_name, value, status) => {
      const { taskId } = await waitingForWorker(api);
      await api.call('POST', '/workers/tasks/poll', {
        body: { handler_name: 'parcel_lookup', worker_id: 'w' },
      });
      const raw = `{"worker_id":"w","claim_epoch":1,"output":${value}}`;
      await expectRefused('POST', `/workers/tasks/${taskId}/complete`, raw, status);
    });

    it.each(BAD_VALUES.filter(([name]) => !name.startsWith('nesting')))(
      '%s is refused in a document',
      async (_name, value, status) => {
        const text = JSON.stringify(
          document({ blocks: [{ type: 'step', id: 'a', handler: 'noop', params: 'HERE' }] }),
        );
        await expectRefused('POST', '/sequences', text.replace('"HERE"', value), status);
      },
    );

    it('names the place with a JSON pointer', async () => {
      const id = await started(api);
      const raw = '{"signal_type":"custom:x","payload":{"list":[0,{"a/b":1e400}]}}';
      const reply = await api.call('POST', `/instances/${id}/signals`, { raw });
      expect(reply.body).toMatchObject({
        error: 'unprocessable entity: /payload/list/1/a~1b is not a finite number',
        code: 'unacceptable_json',
        details: [{ pointer: '/payload/list/1/a~1b', message: 'is not a finite number' }],
      });
    });

    it('that is not UTF-8, or begins with a byte order mark, is no JSON', async () => {
      const bodies = [
        [0x22, 0xff, 0x22],
        [0x22, 0xc0, 0x80, 0x22],
        [0x22, 0xed, 0xa0, 0x80, 0x22],
        [0xef, 0xbb, 0xbf, 0x7b, 0x7d],
        [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00],
      ];
      for (const bytes of bodies) {
        const reply = await api.call('POST', '/sequences', { raw: Uint8Array.from(bytes) });
        expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
        expect(reply.body.error).toMatch(/^invalid argument: the body is not JSON: /);
      }
    });

    it.each(
      ROUTES.filter((route) => route.body.kind === 'json').map(
        (route) => [route.method, route.path] as const,
      ),
    )('is refused by %s %s before anything is looked up', async (method, path) => {
      const concrete = path.replace('{id}', nextId()).replace('{slug}', 'none');
      const statuses: number[] = [];
      for (const raw of ['{', '', '\u0000', '{"a":"\\u0000"}', nested(1000), '{"__proto__":{"a":1e999}}']) {
        statuses.push((await api.call(method, concrete, { raw })).status);
      }
      // These bodies may be empty, and then it is looked up what the path names.
      const mayBeEmpty = [
        '/triggers/{slug}/fire',
        '/instances/{id}/resume-from/{block_id}',
        '/instances/{id}/wake',
        '/sequences/{name}/unpublish',
      ];
      const empty = mayBeEmpty.includes(path) ? 404 : 400;
      expect(statuses).toEqual([400, empty, 400, 422, 422, 422]);
    });

    it.each(
      ROUTES.filter((route) => route.body.kind === 'json').map(
        (route) => [route.method, route.path] as const,
      ),
    )('of the wrong shape is never a 5xx at %s %s', async (method, path) => {
      const concrete = path.replace('{id}', nextId()).replace('{slug}', 'none');
      for (const body of [null, [], 'text', 7, true, {}, { a: 1 }, [[]], { __proto__x: null }]) {
        const { status } = await api.call(method, concrete, { body });
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
      }
    });
  });

  describe('numbers that fit no column', () => {
    it.each(['complete', 'fail', 'heartbeat'])('are refused as the epoch of a worker: %s', async (verb) => {
      const { taskId } = await waitingForWorker(api);
      const report = { worker_id: 'w', output: 1, message: 'm', checkpoint: 1, checkpoint_seq: 0 };
      for (const claim_epoch of [2 ** 31, Number.MAX_SAFE_INTEGER, -(2 ** 31) - 1]) {
        const raw = JSON.stringify({ ...report, claim_epoch });
        await expectRefused('POST', `/workers/tasks/${taskId}/${verb}`, raw, 422);
      }
      const raw = JSON.stringify({ ...report, claim_epoch: 1, checkpoint_seq: 2 ** 31 });
      await expectRefused('POST', `/workers/tasks/${taskId}/heartbeat`, raw, 422);
    });

    it.each(['/instances', '/instances/dlq', '/sequences', '/approvals', '/workers/tasks'])(
      'are an empty page as the greatest offset of %s',
      async (path) => {
        const { status, body } = await api.call('GET', `${path}?offset=2147483647&limit=1000`);
        expect([status, body.items ?? body]).toEqual([200, []]);
      },
    );
  });

  describe('strange but good JSON', () => {
    const STRANGE: readonly string[] = [
      '{"__proto__":{"admin":true},"constructor":1,"toString":null,"":0,"a.b":1,"hasOwnProperty":[]}',
      '"\\\\u0000"',
      '"\\ud83d\\ude00 \u05d0\u202e \u0301"',
      '9007199254740991',
      '-0.1',
      nested(60),
      '"\u0001\\u0001\\u001f\\u007f\u2028"'.replace('\u0001', ''),
    ];

    it.each(STRANGE)('%j comes back exactly', async (value) => {
      const sequenceId = await published(api);
      const raw = `{"sequence_id":"${sequenceId}","tenant_id":"${TENANT}","namespace":"n","metadata":{"m":${value}},"context":{"data":{"v":${value}},"config":{"c":${value}}}}`;
      const { body } = await api.call('POST', '/instances', { raw });
      const { text } = await api.call('GET', `/instances/${body.id}`);
      const shown = JSON.parse(text) as {
        metadata: JsonObject;
        context: { data: JsonObject; config: JsonObject };
      };
      const expected = canonicalJson(JSON.parse(value));
      expect(canonicalJson(shown.context.data)).toBe(`{"v":${expected}}`);
      expect(canonicalJson(shown.context.config)).toBe(`{"c":${expected}}`);
      expect(canonicalJson(shown.metadata)).toBe(`{"m":${expected}}`);
    });

    it('keeps __proto__ as a top-level key of every section', async () => {
      const sequenceId = await published(api);
      const part = '{"__proto__":{"polluted":1}}';
      const raw = `{"sequence_id":"${sequenceId}","tenant_id":"${TENANT}","namespace":"n","metadata":${part},"context":{"data":${part},"config":${part}}}`;
      const { body } = await api.call('POST', '/instances', { raw });
      const { text } = await api.call('GET', `/instances/${body.id}`);
      // In the data, the config, the metadata, and in the input as it came.
      expect(text.match(/"__proto__":\{"polluted":1\}/g)).toHaveLength(4);
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    });

    it('shows -0 as 0', async () => {
      const sequenceId = await published(api);
      const raw = `{"sequence_id":"${sequenceId}","tenant_id":"${TENANT}","namespace":"n","context":{"data":{"v":-0}}}`;
      const { body } = await api.call('POST', '/instances', { raw });
      expect((await api.call('GET', `/instances/${body.id}`)).text).toContain('{"v":0}');
    });

    it('of two members of one name the last one counts', async () => {
      const sequenceId = await published(api);
      const raw = `{"sequence_id":"${nextId()}","sequence_id":"${sequenceId}","tenant_id":"${TENANT}","namespace":"n"}`;
      expect((await api.call('POST', '/instances', { raw })).status).toBe(201);
    });
  });

  describe('documents that must not get in', () => {
    it.each([
      ['an unknown block type', { blocks: [{ type: 'teleport', id: 'a' }] }, 422],
      ['a block without type', { blocks: [{ id: 'a' }] }, 422],
      ['a block that is a list', { blocks: [[]] }, 422],
      ['duplicate ids in different branches', { blocks: [parallel('x', 'x')] }, 400],
      ['no blocks', { blocks: [] }, 400],
      ['5,001 blocks', { blocks: steps(5001) }, 400],
      [
        '257 branches',
        { blocks: [{ type: 'parallel', id: 'p', branches: Array.from({ length: 257 }, () => []) }] },
        400,
      ],
      ['an id that is no UUID', { id: '1' }, 422],
      ['a version that does not fit', { version: 2 ** 31 }, 422],
      ['a date that does not exist', { created_at: '2027-02-30T00:00:00Z' }, 422],
    ])('%s', async (_name, overrides, status) => {
      await expectRefused('POST', '/sequences', JSON.stringify(document(overrides as never)), status);
    });

    it('blocks nested deeper than 64', async () => {
      let blocks: object[] = [{ type: 'step', id: 'leaf', handler: 'noop' }];
      for (let depth = 0; depth < 66; depth += 1)
        blocks = [{ type: 'cancellation_scope', id: `s${depth}`, blocks }];
      await expectRefused('POST', '/sequences', JSON.stringify(document({ blocks: blocks as never })), 400);
    });

    it('a document of more than 4 MiB', async () => {
      const params = 'x'.repeat(4 * 1024 * 1024);
      const blocks = [{ type: 'step', id: 'a', handler: 'noop', params }];
      await expectRefused('POST', '/sequences', JSON.stringify(document({ blocks })), 400);
    });

    it('a body of more than 10 MiB', async () => {
      await expectRefused('POST', '/sequences', `"${'x'.repeat(10 * 1024 * 1024)}"`, 413);
    });
  });
}

async function expectRefused(method: string, path: string, raw: string, status: number): Promise<void> {
  const before = await api.footprint();
  const reply = await api.call(method, path, { raw });
  expect(reply.status).toBe(status);
  expect(reply.body.error).toMatch(/^(invalid argument|unprocessable entity|payload too large): /);
  expect(reply.text.length).toBeLessThan(40_000);
  expect(await api.footprint()).toEqual(before);
}

function steps(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({ type: 'step', id: `s${index}`, handler: 'noop' }));
}

function parallel(...ids: string[]): object {
  return { type: 'parallel', id: 'p', branches: ids.map((id) => [{ type: 'step', id, handler: 'noop' }]) };
}
