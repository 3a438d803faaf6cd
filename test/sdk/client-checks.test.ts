import { describe, expect, it } from 'vitest';
import { sequence } from '../../src/sdk/sequence.ts';
import { createWorld } from './support/world.ts';

const hello = sequence({
  name: 'hello',
  input_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  blocks: [
    { type: 'step', id: 'greet', handler: 'transform', params: { text: 'Hello, {{data.name}}!' } },
    { type: 'step', id: 'send', handler: 'send_mail', params: { body: '{{outputs.greet.text}}' } },
  ],
});

describe('the checks of the client', () => {
  it('look at a draft without storing it, and at a version by its id', async () => {
    const { sequences } = createWorld().client;
    const draft = await sequences.preflight(hello);
    expect(draft).toMatchObject({ sequence_name: 'hello', sequence_version: 1, overall: 'fail' });
    expect(draft.checks.find(({ status }) => status === 'fail')?.id).toBe('handlers_have_workers');
    expect((await sequences.list()).items).toEqual([]);
    const { id } = await sequences.publish(hello);
    expect(await sequences.preflight(id)).toMatchObject({ overall: 'fail', sequence_version: 1 });
    expect(await sequences.preflight(hello)).toMatchObject({ sequence_version: 2 });
    await expect(sequences.preflight('5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44')).rejects.toMatchObject({
      status: 404,
    });
  });

  it('check the references and generate types', async () => {
    const { sequences } = createWorld().client;
    const draft = {
      ...hello,
      id: '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44',
      version: 1,
      created_at: '2027-01-01T00:00:00Z',
    };
    const { report, generated } = await sequences.dataflow(draft);
    expect(report.references_checked).toBe(2);
    expect(generated.typescript).toContain('"name": string;');
    const { id } = await sequences.publish(draft);
    expect(await sequences.dataflow(id)).toEqual({ report, generated });
  });

  it('resolve templates with made-up values', async () => {
    const { sequences } = createWorld().client;
    expect(await sequences.debugTemplate('{{ data.x | 1 }}')).toMatchObject({
      result: 1,
      entries: [{ fallback_used: true }],
    });
    const sample = { context_data: { name: 'Ada' }, outputs: { greet: { text: 'Hi' } } };
    const trace = { block_id: 'greet', resolved_params: { text: 'Hello, Ada!' } };
    expect(await sequences.inspectTemplate(hello, 'greet', sample)).toMatchObject(trace);
    const { id } = await sequences.publish(hello);
    expect(await sequences.inspectTemplate(id, 'send', sample)).toMatchObject({
      resolved_params: { body: 'Hi' },
    });
  });

  it('show what the params of a step of a run resolve to', async () => {
    const { instances, sequences } = createWorld().client;
    const { id: sequence_id } = await sequences.publish(hello);
    const { id } = await instances.start({ sequence_id, context: { data: { name: 'Ada' } } });
    expect(await instances.resolvedInput(id, 'greet')).toMatchObject({
      resolved_params: { text: 'Hello, Ada!' },
    });
    expect(await instances.resolvedInput(id, 'send', { at_block: 'greet' })).toMatchObject({
      resolved_params: { body: null },
      entries: [{ status: 'missing' }],
    });
  });
});
