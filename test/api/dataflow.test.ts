import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT } from './support/api-fixture.ts';
import { document, published } from './support/documents.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});

describe('POST /sequences/dataflow and GET /sequences/{id}/dataflow', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false };
  const blocks = [
    step('lookup', { output_schema: schema }),
    step('refund', { params: ['{{outputs.lookup.iban}}'] }),
  ];

  it('answer the same report and the same generated code for a draft and its stored version [API 4.2]', async () => {
    const body = document({ blocks, input_schema: { type: 'object' } });
    const draft = await api.call('POST', '/sequences/dataflow', { body });
    expect(draft.body.report).toEqual({
      references_checked: 1,
      findings: [
        {
          ...{
            code: 'SCHEMA_PATH_MISSING',
            severity: 'error',
            consumer: 'refund',
            reference: 'outputs.lookup.iban',
          },
          summary: 'outputs.lookup has a closed schema without iban',
        },
      ],
    });
    expect(draft.body.generated).toMatchObject({
      generator_version: 'orch8-dataflow-v2',
      sequence_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      schema: { input: { type: 'object' }, outputs: { lookup: schema, refund: true } },
      typescript: expect.stringContaining('"lookup": { "n"?: number; };'),
      python: expect.stringContaining('StepOutputs = TypedDict("StepOutputs", {'),
      swift: expect.stringContaining('public struct StepOutputs'),
      kotlin: expect.stringContaining('data class StepOutputs('),
    });
    expect((await api.call('POST', '/sequences', { body })).status).toBe(201);
    await api.call('POST', `/sequences/${body.id}/status`, { body: { status: 'unpublished' } });
    const stored = await api.call('GET', `/sequences/${body.id}/dataflow`);
    expect(stored.text).toBe(draft.text);
    const { body: fetched } = await api.call('GET', `/sequences/${body.id}`);
    expect((await api.call('POST', '/sequences/dataflow', { body: fetched })).text).toBe(draft.text);
  });

  it('are 404 for an unknown version, 400 for a schema that is too large, and refuse bad drafts', async () => {
    const id = await published(api, { blocks });
    expect((await api.call('GET', `/sequences/${nextId()}/dataflow`)).status).toBe(404);
    expect((await api.call('GET', `/sequences/${id}/dataflow`, { tenant: OTHER_TENANT })).status).toBe(404);
    const properties = Object.fromEntries(Array.from({ length: 4096 }, (_, index) => [`k${index}`, true]));
    const wide = document({ name: 'wide', blocks: [step('a', { output_schema: { properties } })] });
    expect(await api.call('POST', '/sequences/dataflow', { body: wide })).toMatchObject({
      status: 400,
      body: { code: 'schema_too_large', error: expect.stringContaining("block 'a' is too large") },
    });
    expect((await api.call('POST', '/sequences', { body: wide })).status).toBe(201);
    expect((await api.call('GET', `/sequences/${wide.id}/dataflow`)).status).toBe(400);
    expect((await api.call('POST', '/sequences/dataflow', { body: document({ blocks: [] }) })).status).toBe(
      400,
    );
    expect((await api.call('POST', '/sequences/dataflow', { body: {} })).status).toBe(422);
    const theirs = await api.call('POST', '/sequences/dataflow', {
      body: document(),
      tenant: OTHER_TENANT,
    });
    expect(theirs.status).toBe(403);
  });
});
