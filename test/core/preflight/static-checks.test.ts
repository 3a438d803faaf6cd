import { describe, expect, it } from 'vitest';
import { readDraft } from '../../../src/core/definition/read-draft.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { overallOf, type PreflightCheck } from '../../../src/core/preflight/check.ts';
import {
  dataflowCheck,
  definitionCheck,
  inputSchemaCheck,
  lintCheck,
  outputSchemasCheck,
  whenGuardsCheck,
} from '../../../src/core/preflight/static-checks.ts';
import { closed, step } from '../dataflow/documents.ts';

function draftOf(blocks: readonly Json[], extra: JsonObject = {}) {
  const draft = readDraft({
    ...{ id: '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44', tenant_id: 'saltmarsh', namespace: 'fulfilment' },
    ...{ name: 'parcel-return', version: 3, created_at: '2027-02-11T07:45:00.000Z', blocks, ...extra },
  });
  if (!draft.ok || draft.value.document === null) throw new Error('not readable');
  return { ...draft.value, document: draft.value.document };
}

const outcome = ({ status, findings }: PreflightCheck) => [
  status,
  ...findings.map(({ code, severity }) => [code, severity]),
];

describe('a check of the document alone [API 4.1]', () => {
  it('passes without findings for a document that has no faults', () => {
    const schema = closed({ n: { type: 'integer' } });
    const blocks = [
      step('a', { output_schema: schema }),
      step('b', { when: 'true', params: ['{{outputs.a.n}}'] }),
    ];
    const { document, problems, warnings } = draftOf(blocks, { input_schema: true });
    const checks = [
      ...[definitionCheck('x', problems), lintCheck('x', warnings), inputSchemaCheck(document)],
      ...[outputSchemasCheck(document), dataflowCheck(document), whenGuardsCheck(document)],
    ];
    expect(checks.map(({ status, findings }) => [status, findings])).toEqual(checks.map(() => ['pass', []]));
    expect(checks[0]?.summary).toBe('structure is valid');
    expect(overallOf(checks)).toBe('pass');
  });

  it('finds INVALID_DEFINITION for each broken rule, with its block', () => {
    const { problems } = draftOf([step('a'), step('a'), step('b', { handler: '' })]);
    const check = definitionCheck('parcel-return', problems);
    expect(outcome(check)).toEqual([
      'fail',
      ['INVALID_DEFINITION', 'error'],
      ['INVALID_DEFINITION', 'error'],
    ]);
    expect(check.findings[0]).toMatchObject({
      summary: expect.stringContaining('duplicate block id'),
      affected: { kind: 'block', id: 'a' },
    });
    const empty = definitionCheck('parcel-return', draftOf([]).problems);
    expect(empty.findings[0]?.affected).toEqual({ kind: 'sequence', id: 'parcel-return' });
  });

  it('finds LINT_WARNING for what a publish would warn of, but not for handler names', () => {
    const { warnings } = draftOf([step('a', { handler: 'nobody', paramz: 1, when: 'data.x ==' })]);
    const check = lintCheck('parcel-return', warnings);
    expect(outcome(check)).toEqual(['warning', ['LINT_WARNING', 'warning'], ['LINT_WARNING', 'warning']]);
    expect(check.findings.map(({ summary }) => summary.split(':')[0])).toEqual([
      'unknown_field',
      'bad_expression',
    ]);
  });

  it('finds INVALID_INPUT_SCHEMA and INVALID_OUTPUT_SCHEMA, of cleanup steps as well', () => {
    const bad = { type: 'sting' };
    const blocks = [
      step('a', { output_schema: bad }),
      step('b', { output_schema: { $ref: 'https://x.example/s' } }),
    ];
    const { document } = draftOf(blocks, { input_schema: bad, on_cancel: [step('h', { output_schema: 7 })] });
    expect(outcome(inputSchemaCheck(document))).toEqual(['fail', ['INVALID_INPUT_SCHEMA', 'error']]);
    const outputs = outputSchemasCheck(document);
    expect(outputs.status).toBe('fail');
    expect(outputs.findings.map(({ code, affected }) => [code, affected.id])).toEqual([
      ...['a', 'b', 'h'].map((id) => ['INVALID_OUTPUT_SCHEMA', id]),
    ]);
  });

  it('takes the findings of the dataflow over, with reference and consumer in their summary', () => {
    const warn = dataflowCheck(draftOf([step('a', { params: ['{{state.k}}'] })]).document);
    expect(outcome(warn)).toEqual(['warning', ['TYPE_UNKNOWN', 'warning']]);
    const fail = dataflowCheck(
      draftOf([step('a', { params: ['{{state.k}}', '{{outputs.no.x}}'] })]).document,
    );
    expect(outcome(fail)).toEqual(['fail', ['MISSING_PRODUCER', 'error'], ['TYPE_UNKNOWN', 'warning']]);
    expect(fail.findings[0]?.summary).toContain('outputs.no.x');
    expect(fail.findings[0]?.summary).toContain("consumer 'a'");
    const input = closed({ a: { type: ['string', 'null'] }, b: true }, ['a']);
    const each = dataflowCheck(
      draftOf([step('s', { params: ['{{data.a}}', '{{data.b}}', '{{data.c}}'] })], { input_schema: input })
        .document,
    );
    expect(outcome(each)).toEqual([
      ...[
        'fail',
        ['SCHEMA_PATH_MISSING', 'error'],
        ['VALUE_MAY_BE_ABSENT', 'error'],
        ['VALUE_MAY_BE_NULL', 'error'],
      ],
    ]);
  });

  it('finds EMPTY_WHEN_GUARD for blank guards only', () => {
    const { document } = draftOf([
      step('a', { when: '' }),
      step('b', { when: ' \n' }),
      step('c', { when: 'true' }),
      step('d'),
    ]);
    const check = whenGuardsCheck(document);
    expect(outcome(check)).toEqual([
      'warning',
      ['EMPTY_WHEN_GUARD', 'warning'],
      ['EMPTY_WHEN_GUARD', 'warning'],
    ]);
    expect(check.summary).toBe('2 guards are empty');
  });

  it('tells at most a thousand findings and counts all', () => {
    const texts = Array.from({ length: 1500 }, (_, index) => `{{state.k${index}}}`);
    const check = dataflowCheck(draftOf([step('a', { params: texts })]).document);
    expect([check.findings.length, check.summary]).toEqual([1000, '1500 references are in doubt']);
  });
});

describe('the overall status', () => {
  it('is the worst of pass, warning, unknown and fail, in this order', () => {
    const of = (...statuses: readonly PreflightCheck['status'][]) =>
      overallOf(statuses.map((status) => ({ id: 'lint_clean', status, summary: '', findings: [] })));
    expect([
      of('pass', 'pass'),
      of('pass', 'warning'),
      of('unknown', 'warning'),
      of('unknown', 'fail', 'pass'),
    ]).toEqual([...['pass', 'warning', 'unknown', 'fail']]);
  });
});

describe('reading a draft', () => {
  it('answers what keeps a document from being read at all', () => {
    const blocks = Array.from({ length: 5001 }, (_, index) => step(`s${index}`));
    expect(readDraft({ name: 'big', version: 1, blocks })).toMatchObject({
      value: { document: null, name: 'big', version: 1, problems: [{ rule: 'LIM-3' }] },
    });
    expect(readDraft({ blocks })).toMatchObject({ error: { status: 400 } });
    expect(readDraft({ name: 'x' })).toMatchObject({ error: { status: 422 } });
    expect(readDraft('x'.repeat(5 * 1024 * 1024))).toMatchObject({ error: { status: 400 } });
  });
});
