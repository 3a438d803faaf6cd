import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, type Reply } from './support/api-fixture.ts';
import { document, published } from './support/documents.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

describe('POST /debug/template', () => {
  const debug = (body: JsonObject): Promise<Reply> => api.call('POST', '/debug/template', { body });

  it('answers result, type and one entry per template [API 4.3]', async () => {
    const reply = await debug({
      template: '{{ data.nick | data.name }}',
      context_data: { name: 'Ada' },
      context_config: {},
      outputs: {},
    });
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({
      result: 'Ada',
      result_type: 'string',
      entries: [
        {
          ...{ param_path: '', expression: 'data.nick | data.name', status: 'ok', value: 'Ada' },
          ...{ result_type: 'string', source: 'data.name', fallback_used: true, coerced_to_string: false },
        },
      ],
    });
  });

  it('names the type of each result', async () => {
    const data = { nil: null, yes: true, n: 1.5, s: 'x', list: [], o: {} };
    const types = ['null', 'boolean', 'number', 'string', 'array', 'object'];
    for (const [index, key] of Object.keys(data).entries()) {
      const { body } = await debug({ template: `{{data.${key}}}`, context_data: data });
      expect(body).toMatchObject({ result_type: types[index], entries: [{ result_type: types[index] }] });
    }
  });

  it('answers plain text as it is, and the roots it was given', async () => {
    for (const template of ['', 'plain', '{{ open']) {
      expect((await debug({ template })).body).toEqual({
        result: template,
        result_type: 'string',
        entries: [],
      });
    }
    const outputs = { 'look-up': { ok: [1] } };
    expect((await debug({ template: '{{outputs.look-up.ok.0}}', outputs })).body.result).toBe(1);
    expect((await debug({ template: '{{config.a}}', context_config: { a: 2 } })).body.result).toBe(2);
    expect((await debug({ template: '{{data}}' })).body.result).toEqual({});
  });

  it('answers an error and no result for an unknown root', async () => {
    const { status, body } = await debug({ template: '{{nope.x}}', context_data: { nope: { x: 1 } } });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        error: expect.stringContaining('unknown template root'),
        entries: [
          expect.objectContaining({ status: 'error', error: expect.any(String), expression: 'nope.x' }),
        ],
      },
    });
  });

  it('shows no secrets [API 4.5]', async () => {
    const { body } = await debug({ template: '{{data.api_key}}', context_data: { api_key: 'abc' } });
    expect(body).toMatchObject({
      result: '[REDACTED]',
      entries: [{ status: 'redacted', value: '[REDACTED]' }],
    });
  });

  it('shows nothing of a text around a secret [API 4.3]', async () => {
    const request = { template: 'a {{data.api_key}} b {{data.n}}', context_data: { api_key: 'abc', n: 1 } };
    const { body } = await debug(request);
    expect(body).toMatchObject({
      result: '[REDACTED]',
      entries: [
        { status: 'redacted', value: '[REDACTED]', coerced_to_string: true },
        { status: 'ok', value: 1 },
      ],
    });
  });

  it('refuses a body of the wrong shape', async () => {
    expect((await debug({})).body.error).toContain('missing field `template`');
    expect(await debug({ template: 1 })).toMatchObject({ status: 422 });
    expect(await debug({ template: 'x', outputs: [] })).toMatchObject({ status: 422 });
    expect(await api.call('POST', '/debug/template', { raw: '{' })).toMatchObject({ status: 400 });
  });
});

describe('POST /sequences/inspect-template', () => {
  const inspect = (body: JsonObject, tenant?: string): Promise<Reply> =>
    api.call('POST', '/sequences/inspect-template', { body, ...(tenant === undefined ? {} : { tenant }) });
  const mail = {
    ...{ type: 'step', id: 'mail', handler: 'noop' },
    params: { to: '{{ data.to }}', of: ['{{ outputs.first.n }}'] },
  };
  const blocks = [{ type: 'step', id: 'first', handler: 'noop' }, mail];
  const sample = { block_id: 'mail', context_data: { to: 'ada' }, outputs: { first: { n: 3 } } };
  const trace = {
    block_id: 'mail',
    resolved_params: { to: 'ada', of: [3] },
    entries: [
      expect.objectContaining({ param_path: 'to', source: 'data.to' }),
      expect.objectContaining({ param_path: 'of[0]', source: 'outputs.first.n' }),
    ],
  };

  it('traces the params of a step, of a draft and of a version alike [API 4.4]', async () => {
    const before = await api.footprint();
    expect(await inspect({ sequence: document({ blocks }), ...sample })).toMatchObject({
      status: 200,
      body: trace,
    });
    expect(await api.footprint()).toEqual(before);
    const id = await published(api, { blocks });
    expect((await inspect({ sequence_id: id, ...sample })).body).toEqual(trace);
  });

  it('takes exactly one of draft and id', async () => {
    for (const body of [
      {},
      { sequence: document(), sequence_id: nextId() },
      { sequence: null, sequence_id: null },
    ]) {
      expect(await inspect({ block_id: 'first', ...body })).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('exactly one of') },
      });
    }
  });

  it('is 404 for an unknown sequence or block, and for one of another tenant', async () => {
    const id = await published(api, { blocks });
    expect(await inspect({ sequence_id: nextId(), block_id: 'mail' })).toMatchObject({ status: 404 });
    expect(await inspect({ sequence_id: id, block_id: 'gone' })).toMatchObject({ status: 404 });
    expect(await inspect({ sequence_id: id, block_id: 'mail' }, OTHER_TENANT)).toMatchObject({ status: 404 });
    expect(await inspect({ sequence: document(), block_id: 'first' }, OTHER_TENANT)).toMatchObject({
      status: 403,
    });
  });

  it('is 400 for a block that is no step, and for a draft that breaks a rule', async () => {
    const child = { type: 'sub_sequence', id: 'child', sequence_name: 'other' };
    const sequence = document({ blocks: [child] });
    expect(await inspect({ sequence, block_id: 'child' })).toMatchObject({
      status: 400,
      body: { code: 'not_a_step', error: expect.stringContaining('not a step') },
    });
    expect(await inspect({ sequence: document({ blocks: [] }), block_id: 'x' })).toMatchObject({
      status: 400,
    });
    expect(await inspect({ sequence: { id: 1 }, block_id: 'x' })).toMatchObject({ status: 422 });
  });

  it('shows a step what its context_access leaves, and binds the items around it', async () => {
    const inner = { type: 'step', id: 'in', handler: 'noop', params: ['{{ line.sku }}', '{{ data.other }}'] };
    const each = { type: 'for_each', id: 'each', collection: 'data.lines', item_var: 'line', body: [inner] };
    const sequence = document({ blocks: [each] });
    const context = { line: { sku: 'K-9' }, other: 1 };
    const bound = await inspect({ sequence, block_id: 'in', context_data: context });
    expect(bound.body).toMatchObject({ resolved_params: ['K-9', 1] });
    const unbound = await inspect({ sequence, block_id: 'in' });
    expect(unbound.body).toMatchObject({
      resolved_params: [null, null],
      entries: [{ status: 'missing' }, {}],
    });
    const limited = { ...inner, context_access: { data: { fields: ['line'] } } };
    const seen = await inspect({
      ...{ sequence: document({ blocks: [{ ...each, body: [limited] }] }) },
      ...{ block_id: 'in', context_data: context },
    });
    expect(seen.body).toMatchObject({ resolved_params: ['K-9', null] });
  });

  it('looks into cleanup lists as well, and says why params do not resolve', async () => {
    const undo = {
      type: 'step',
      id: 'undo',
      handler: 'noop',
      params: { why: '{{ why }}', no: '{{ data.no }}' },
    };
    const { body } = await inspect({ sequence: document({ on_failure: [undo] }), block_id: 'undo' });
    expect(body).toMatchObject({
      error: expect.stringContaining('"/why"'),
      entries: [{ status: 'error' }, {}],
    });
    expect(body).not.toHaveProperty('resolved_params');
  });
});
