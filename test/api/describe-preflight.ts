import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { CHECK_IDS } from '../../src/core/preflight/check.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, type Body, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { document, published } from './support/documents.ts';

let api: ApiFixture;
let advanceClock: (ms: number) => Promise<void>;

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
const preflight = async (blocks: readonly JsonObject[], extra: JsonObject = {}): Promise<Body> =>
  (await api.call('POST', '/sequences/preflight', { body: document({ blocks, ...extra }) })).body;

/** One check of an answer. */
const checkOf = (body: Body, id: string): Body => body.checks.find((check: Body) => check.id === id);

/** Code, severity and resource of each finding of a check. */
function found(body: Body, id: string): readonly unknown[] {
  return (checkOf(body, id).findings ?? []).map(
    ({ code, severity, affected_resource: { kind, id: of } }: Body) => [...[code, severity, `${kind} ${of}`]],
  );
}

async function poll(handler: string, extra: JsonObject = {}): Promise<void> {
  const path = extra['queue_name'] === undefined ? '/workers/tasks/poll' : '/workers/tasks/poll/queue';
  const body = { handler_name: handler, worker_id: `w-${nextId()}`, ...extra };
  expect((await api.call('POST', path, { body })).status).toBe(200);
}

/** Registers the tests of what preflight asks of a store of this kind. */
export function describePreflight(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    const underTest = await backend.fresh();
    api = createFixture({}, { store: underTest.store });
    advanceClock = async (ms) => {
      await underTest.advanceClock(ms);
      api.clock.now += ms;
    };
  });

  describe('POST /sequences/preflight and GET /sequences/{id}/preflight', () => {
    it('answers all checks in their order, and stores nothing [API 4.1]', async () => {
      const before = await api.footprint();
      const body = await preflight([step('a')]);
      expect(await api.footprint()).toEqual(before);
      expect(body).toEqual({
        sequence_name: 'parcel-return',
        sequence_version: 1,
        overall: 'pass',
        checks: CHECK_IDS.map((id) => ({ id, status: 'pass', summary: expect.any(String) })),
        generated_at: '2027-02-11T08:00:00.000Z',
      });
      expect(checkOf(body, 'definition_valid').summary).toBe('structure is valid');
    });

    it('answers the same for a stored version, 404 for an unknown one and one of another tenant', async () => {
      const blocks = [step('a', { handler: 'parcel_lookup', params: ['{{data.x}}'] })];
      const draft = await preflight(blocks);
      const id = await published(api, { blocks });
      expect((await api.call('GET', `/sequences/${id}/preflight`)).body).toEqual(draft);
      expect((await api.call('GET', `/sequences/${nextId()}/preflight`)).status).toBe(404);
      expect((await api.call('GET', `/sequences/${id}/preflight`, { tenant: OTHER_TENANT })).status).toBe(
        404,
      );
      expect((await api.call('GET', '/sequences/7/preflight')).status).toBe(400);
    });

    it('is 200 for a document that breaks rules, and refuses one that cannot be read', async () => {
      const broken = await preflight([], { input_schema: { type: 'sting' } });
      expect([broken.overall, checkOf(broken, 'definition_valid').status]).toEqual(['fail', 'fail']);
      expect(found(broken, 'input_schema_valid')).toEqual([
        ['INVALID_INPUT_SCHEMA', 'error', 'sequence parcel-return'],
      ]);
      const huge = await preflight(Array.from({ length: 5001 }, (_, index) => step(`s${index}`)));
      expect(found(huge, 'definition_valid')).toEqual([['INVALID_DEFINITION', 'error', expect.any(String)]]);
      expect(huge.checks.slice(1).map(({ status }: Body) => status)).toEqual(
        CHECK_IDS.slice(1).map(() => 'unknown'),
      );
      const status = async (body: object, tenant = TENANT): Promise<number> =>
        (await api.call('POST', '/sequences/preflight', { body, tenant })).status;
      expect(await status({ name: 'x' })).toBe(422);
      expect(await status(document({ blocks: [{ type: 'stepp', id: 'a' }] }))).toBe(422);
      expect(await status(document(), OTHER_TENANT)).toBe(403);
      expect((await api.call('POST', '/sequences/preflight', { raw: '{' })).status).toBe(400);
    });

    it('finds handlers that nobody serves, until a worker has polled within 120 s', async () => {
      const blocks = [
        step('a', { handler: 'parcel_lookup' }),
        step('b', { handler: 'log', fallback_handler: 'spare' }),
      ];
      const lonely = await preflight(blocks);
      expect(found(lonely, 'handlers_have_workers')).toEqual([
        ['NO_COMPATIBLE_WORKER', 'error', 'handler parcel_lookup'],
        ['NO_COMPATIBLE_WORKER', 'error', 'handler spare'],
      ]);
      expect(checkOf(lonely, 'handlers_have_workers')).toMatchObject({
        status: 'fail',
        summary: '2 handlers have no live worker',
        findings: [
          {
            summary: "handler 'parcel_lookup' has no live worker",
            remediation: [{ side_effect_risk: false }],
            confidence: 'high',
            observed_at: '2027-02-11T08:00:00.000Z',
          },
          {},
        ],
      });
      await poll('parcel_lookup');
      await poll('spare');
      expect((await preflight(blocks)).overall).toBe('pass');
      await advanceClock(120_000);
      expect((await preflight(blocks)).overall).toBe('pass');
      await advanceClock(1);
      expect(
        checkOf(await preflight([step('a', { handler: 'spare' })]), 'handlers_have_workers'),
      ).toMatchObject({
        summary: '1 handler has no live worker',
      });
    });

    it('counts a handler that another live process runs', async () => {
      await api.store.announceHandlers(
        { buildId: 'other', handlers: [{ name: 'resize', kind: 'effect' }] },
        { announcedWithinMs: 90_000, polledWithinMs: 120_000 },
      );
      expect((await preflight([step('a', { handler: 'resize' })])).overall).toBe('pass');
    });

    it('finds workers that are all below the pin of their handler', async () => {
      const blocks = [step('a', { handler: 'lookup' })];
      await api.store.putVersionPin(TENANT, 'lookup', '1.10.0');
      await poll('lookup', { version: '1.9.4' });
      await poll('lookup');
      expect(found(await preflight(blocks), 'handlers_have_workers')).toEqual([
        ['WORKER_BELOW_VERSION_PIN', 'error', 'handler lookup'],
      ]);
      await poll('lookup', { version: 'v1.10' });
      expect((await preflight(blocks)).overall).toBe('pass');
    });

    it('finds plugins, of which none is enabled', async () => {
      const body = await preflight([step('a', { handler: 'wasm://resize' })]);
      expect(found(body, 'plugins_enabled')).toEqual([['PLUGIN_DISABLED', 'error', 'plugin wasm://resize']]);
      expect(found(body, 'handlers_have_workers')).toEqual([]);
    });

    it('finds credentials that are missing, disabled or expired', async () => {
      const create = (id: string, extra: JsonObject = {}) =>
        api.call('POST', '/credentials', {
          body: { id, tenant_id: TENANT, name: id, kind: 'api_key', value: 'v', ...extra },
        });
      expect((await create('good')).status).toBe(201);
      await create('off');
      await api.store.updateCredential(TENANT, 'off', { enabled: false });
      await create('old', { expires_at: '2027-02-11T07:59:59.000Z' });
      const params = {
        of: ['credentials://good', 'credentials://off', 'credentials://old/part', 'credentials://gone'],
        later: 'credentials://{{data.which}}',
      };
      const body = await preflight([step('a', { params })]);
      expect(found(body, 'credentials_present')).toEqual([
        ['CREDENTIAL_DISABLED', 'error', 'credential off'],
        ['CREDENTIAL_EXPIRED', 'error', 'credential old'],
        ['CREDENTIAL_MISSING', 'error', 'credential gone'],
      ]);
      expect(checkOf(body, 'credentials_present').summary).toBe('3 credentials are not usable');
    });

    it('warns of queues without a consumer, behind routing rules as well', async () => {
      const blocks = [step('a', { handler: 'render', queue_name: 'gpu' })];
      await poll('render', { queue_name: 'cpu' });
      const lonely = await preflight(blocks);
      expect(found(lonely, 'queues_consumable')).toEqual([['QUEUE_HAS_NO_CONSUMER', 'warning', 'queue gpu']]);
      expect([lonely.overall, checkOf(lonely, 'queues_consumable').status]).toEqual(['warning', 'warning']);
      await api.store.insertRoutingRule({
        ...{ id: nextId(), tenantId: TENANT, handlerName: 'render', matchQueue: 'gpu', queueOverride: 'cpu' },
        ...{ priority: 0, enabled: true },
      });
      expect((await preflight(blocks)).overall).toBe('pass');
      expect((await preflight([step('a', { handler: 'render', queue_name: 'tpu' })])).overall).toBe(
        'warning',
      );
      await poll('render');
      expect((await preflight([step('a', { handler: 'render', queue_name: 'tpu' })])).overall).toBe('pass');
    });

    it('finds sub-sequences that are missing, unpublished or there as a draft only', async () => {
      const child = (name: string, version?: number): JsonObject => ({
        ...{ type: 'sub_sequence', id: `${name}-${version}`, sequence_name: name },
        ...(version === undefined ? {} : { version }),
      });
      await published(api, { name: 'good' });
      await published(api, { name: 'sketch', status: 'draft' });
      await published(api, { name: 'mixed', version: 1 });
      await published(api, { name: 'mixed', version: 2, status: 'draft' });
      const gone = await published(api, { name: 'gone' });
      await api.call('POST', `/sequences/${gone}/status`, { body: { status: 'unpublished' } });
      const blocks = [
        ...[
          child('good'),
          child('good', 1),
          child('good', 2),
          child('sketch'),
          child('sketch', 1),
          child('mixed'),
        ],
        ...[child('mixed', 2), child('gone'), child('gone', 1), child('none'), child('parcel-return')],
      ];
      const body = await preflight(blocks);
      expect(found(body, 'sub_sequences_available')).toEqual([
        ['SUB_SEQUENCE_MISSING', 'error', 'sequence good'],
        ['SUB_SEQUENCE_DRAFT_ONLY', 'error', 'sequence sketch'],
        ['SUB_SEQUENCE_DRAFT_ONLY', 'error', 'sequence sketch'],
        ['SUB_SEQUENCE_DRAFT_ONLY', 'error', 'sequence mixed'],
        ['SUB_SEQUENCE_UNPUBLISHED', 'error', 'sequence gone'],
        ['SUB_SEQUENCE_UNPUBLISHED', 'error', 'sequence gone'],
        ['SUB_SEQUENCE_MISSING', 'error', 'sequence none'],
      ]);
    });

    it('says unknown for a check whose look-up fails, and makes the others', async () => {
      const failing: Store = { ...api.store, getCredential: () => Promise.reject(new Error('lost')) };
      const other = createFixture({}, { store: failing });
      const body = document({ blocks: [step('a', { params: ['credentials://x'], handler: 'nobody' })] });
      const reply = await other.call('POST', '/sequences/preflight', { body });
      expect(reply.body.overall).toBe('fail');
      expect(checkOf(reply.body, 'credentials_present')).toMatchObject({ status: 'unknown' });
      expect(checkOf(reply.body, 'handlers_have_workers')).toMatchObject({ status: 'fail' });
      expect(other.logged.join()).toContain('credentials_present');
      const calm = document({ blocks: [step('a', { params: ['credentials://x'] })] });
      expect((await other.call('POST', '/sequences/preflight', { body: calm })).body.overall).toBe('unknown');
    });

    it('sees the workers, credentials and sequences of the tenant only', async () => {
      await api.call('POST', '/sequences', {
        body: document({ tenant_id: OTHER_TENANT, name: 'theirs' }),
        tenant: OTHER_TENANT,
      });
      const body = await preflight([{ type: 'sub_sequence', id: 's', sequence_name: 'theirs' }]);
      expect(found(body, 'sub_sequences_available')).toEqual([
        ['SUB_SEQUENCE_MISSING', 'error', 'sequence theirs'],
      ]);
    });
  });
}
