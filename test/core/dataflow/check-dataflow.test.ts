import { describe, expect, it } from 'vitest';
import { checkDataflow } from '../../../src/core/dataflow/check-dataflow.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { closed, documentOf, step } from './documents.ts';

/** The findings of one text in the params of the step `use`, behind a step `make` with this output schema. */
function findingsOf(text: string, schemas: { readonly output?: Json; readonly input?: Json }) {
  const output: JsonObject = schemas.output === undefined ? {} : { output_schema: schemas.output };
  const input: JsonObject = schemas.input === undefined ? {} : { input_schema: schemas.input };
  const blocks = [step('make', output), step('use', { params: [text] })];
  return checkDataflow(documentOf(blocks, input)).findings;
}

const codeOf = (text: string, schemas: Parameters<typeof findingsOf>[1]): string | undefined =>
  findingsOf(text, schemas)[0]?.code;
const inData = (path: string, input: Json): string | undefined => codeOf(`{{data.${path}}}`, { input });

describe('a reference [API 4.2]', () => {
  it('without a block that produces it is MISSING_PRODUCER', () => {
    expect(findingsOf('{{outputs.gone.x}}', { output: true })).toEqual([
      {
        ...{ code: 'MISSING_PRODUCER', severity: 'error', consumer: 'use', reference: 'outputs.gone.x' },
        summary: expect.stringContaining("'gone'"),
      },
    ]);
  });

  it('without a schema is TYPE_UNKNOWN, as are state and config always', () => {
    for (const reference of ['outputs.make.x', 'data.x', 'state.k', 'config.y']) {
      const known = reference.startsWith('data') || reference.startsWith('outputs');
      const schemas = known ? {} : { input: closed({}), output: closed({}) };
      expect(findingsOf(`{{${reference}}}`, schemas)).toMatchObject([
        { code: 'TYPE_UNKNOWN', severity: 'warning', consumer: 'use', reference },
      ]);
    }
  });

  it('that leaves a closed object is SCHEMA_PATH_MISSING', () => {
    expect(findingsOf('{{outputs.make.iban}}', { output: closed({ n: true }) })).toEqual([
      {
        ...{
          code: 'SCHEMA_PATH_MISSING',
          severity: 'error',
          consumer: 'use',
          reference: 'outputs.make.iban',
        },
        summary: 'outputs.make has a closed schema without iban',
      },
    ]);
    expect(codeOf("{{outputs.make.iban | ''}}", { output: closed({}) })).toBe('SCHEMA_PATH_MISSING');
    expect(inData('a.b', closed({ a: closed({}) }))).toBe('SCHEMA_PATH_MISSING');
  });

  it('that indexes a schema without items is SCHEMA_PATH_MISSING', () => {
    expect(inData('list[0]', closed({ list: { type: 'array' } }))).toBe('SCHEMA_PATH_MISSING');
    expect(inData('o.0', closed({ o: { type: 'object' } }))).toBe('SCHEMA_PATH_MISSING');
  });

  it('that leaves an open object, or names something in an array, is TYPE_UNKNOWN', () => {
    expect(inData('x', { type: 'object' })).toBe('TYPE_UNKNOWN');
    expect(inData('list.first', closed({ list: { type: 'array', items: true } }))).toBe('TYPE_UNKNOWN');
    expect(inData('x.y', closed({ x: true }))).toBe('TYPE_UNKNOWN');
    expect(inData('x.0', closed({ x: true }))).toBe('TYPE_UNKNOWN');
    expect(inData('x', { ...closed({}), patternProperties: { '^x': true } })).toBe('TYPE_UNKNOWN');
  });

  it('with a segment that is not required is VALUE_MAY_BE_ABSENT unless it has a fallback', () => {
    const input = closed({ a: closed({ b: { type: 'string' } }, []) });
    expect(findingsOf('{{data.a.b}}', { input })).toMatchObject([
      { code: 'VALUE_MAY_BE_ABSENT', severity: 'error', reference: 'data.a.b' },
    ]);
    expect(codeOf("{{data.a.b | ''}}", { input })).toBeUndefined();
    expect(codeOf('{{data.a.b | upper}}', { input })).toBeUndefined();
    expect(codeOf('{{data.a.b || data.a.b}}', { input })).toBe('VALUE_MAY_BE_ABSENT');
  });

  it('with an index beyond minItems is VALUE_MAY_BE_ABSENT', () => {
    const input = closed({ list: { type: 'array', items: { type: 'string' }, minItems: 1 } });
    expect(inData('list[0]', input)).toBeUndefined();
    expect(inData('list.1', input)).toBe('VALUE_MAY_BE_ABSENT');
    expect(inData('t.0', closed({ t: { type: 'array', prefixItems: [true], minItems: 1 } }))).toBeUndefined();
  });

  it('whose last type allows null is VALUE_MAY_BE_NULL unless it has a fallback', () => {
    for (const type of [
      ...[{ type: ['string', 'null'] }, { type: 'null' }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
      ...[
        { oneOf: [{ type: ['null', 'number'] }, { type: 'string' }] },
        { enum: ['a', null] },
        { const: null },
      ],
    ] satisfies Json[]) {
      const input = closed({ a: type });
      expect(findingsOf('{{data.a}}', { input })).toMatchObject([
        { code: 'VALUE_MAY_BE_NULL', severity: 'error' },
      ]);
      expect(codeOf("{{data.a | 'x'}}", { input })).toBeUndefined();
    }
    expect(inData('a', closed({ a: { type: 'string', enum: ['x', null] } }))).toBeUndefined();
  });

  it('that may be absent is not also told to be null', () => {
    const input = closed({ a: { type: ['string', 'null'] } }, []);
    expect(findingsOf('{{data.a}}', { input }).map(({ code }) => code)).toEqual(['VALUE_MAY_BE_ABSENT']);
  });

  it('that its schema promises has no finding', () => {
    const output = closed({ a: closed({ 'b-c': { type: 'integer' }, 7: { type: 'string' } }) });
    for (const path of ['make', 'make.a', 'make.a.b-c', 'make.a.7']) {
      expect([path, codeOf(`{{outputs.${path}}}`, { output })]).toEqual([path, undefined]);
    }
  });

  it('is followed through references and combinations of schemas', () => {
    const row = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
    const input = {
      ...closed({ row: { $ref: '#/$defs/row' }, tree: { $ref: '#/$defs/tree' }, both: true, any: true }),
      $defs: {
        row: { ...row, additionalProperties: false },
        tree: closed({ next: { $ref: '#/$defs/tree' } }),
      },
      properties: {
        row: { $ref: '#/$defs/row' },
        tree: { $ref: '#/$defs/tree' },
        both: { allOf: [row, closed({ id: true, n: true })] },
        any: { anyOf: [closed({ id: true, n: true }), closed({ id: true }), { type: 'null' }] },
        odd: { anyOf: [closed({ id: true }), { type: 'object' }] },
      },
      required: ['row', 'tree', 'both', 'any', 'odd'],
    };
    const found = (path: string): string | undefined => inData(path, input);
    expect(found('row.id')).toBeUndefined();
    expect(found('row.no')).toBe('SCHEMA_PATH_MISSING');
    expect(found('tree.next.next.next')).toBeUndefined();
    expect(found('both.n')).toBeUndefined();
    expect(found('both.no')).toBe('SCHEMA_PATH_MISSING');
    expect(found('any.id')).toBe('VALUE_MAY_BE_NULL');
    expect(found('any.n')).toBe('VALUE_MAY_BE_ABSENT');
    expect(found('any.no')).toBe('SCHEMA_PATH_MISSING');
    expect(found('odd.x')).toBe('TYPE_UNKNOWN');
  });

  it('to what the engine itself puts into data is unknown and no error, but for the answer of a gate, which is a text', () => {
    const input = closed({ lines: { type: 'array', items: true } });
    const body = [step('in', { params: ['{{data.line.sku}}'] })];
    const each = { type: 'for_each', id: 'each', collection: 'data.lines', item_var: 'line', body };
    const gate = step('ask', { wait_for_input: { store_as: 'answer' } });
    const blocks = [
      each,
      gate,
      step('after', {
        params: ['{{data.answer}}', '{{data.answer.by}}', '{{data.line}}', '{{data._error}}'],
      }),
      {
        ...{ type: 'try_catch', id: 'try', try_block: [step('risky', { params: ['{{data._error.code}}'] })] },
        catch_block: [step('caught', { params: ['{{data._error.code}}'] })],
      },
    ];
    const { findings } = checkDataflow(documentOf(blocks, { input_schema: input }));
    expect(findings.map(({ consumer, code, reference }) => [consumer, code, reference])).toEqual([
      ['after', 'SCHEMA_PATH_MISSING', 'data._error'],
      ['after', 'SCHEMA_PATH_MISSING', 'data.line'],
      ['after', 'TYPE_UNKNOWN', 'data.answer.by'],
      ['caught', 'TYPE_UNKNOWN', 'data._error.code'],
      ['in', 'TYPE_UNKNOWN', 'data.line.sku'],
      ['risky', 'SCHEMA_PATH_MISSING', 'data._error.code'],
    ]);
  });
});

describe('the report [API 4.2]', () => {
  it('looks into every text of every block of the main tree', () => {
    const ref = (name: string): string => `{{ data.${name} }}`;
    const blocks = [
      step('s', {
        params: { a: [ref('params')], [ref('key')]: 1 },
        when: 'data.when',
        cache_key: ref('cache'),
      }),
      { type: 'sub_sequence', id: 'sub', sequence_name: 'x', input: { deep: [ref('input')] } },
      { type: 'parallel', id: 'par', branches: [[step('p1', { when: 'data.branch' })]] },
      {
        ...{
          type: 'router',
          id: 'rou',
          routes: [{ condition: 'data.route', blocks: [step('r1', { when: 'data.r1' })] }],
        },
        default: [step('r2', { when: 'data.r2' })],
      },
      {
        ...{ type: 'try_catch', id: 'try', try_block: [step('t1', { when: 'data.t1' })] },
        catch_block: [step('t2', { when: 'data.t2' })],
        finally_block: [step('t3', { when: 'data.t3' })],
      },
      {
        type: 'loop',
        id: 'loop',
        condition: 'data.cond',
        break_on: 'data.brk',
        body: [step('l', { when: 'data.l' })],
      },
      { type: 'for_each', id: 'each', collection: 'data.coll', body: [step('f', { when: 'data.f' })] },
      {
        ...{ type: 'a_b_split', id: 'ab' },
        variants: [
          { name: 'a', weight: 1, blocks: [step('v1', { when: 'data.v1' })] },
          { name: 'b', weight: 1, blocks: [] },
        ],
      },
      { type: 'cancellation_scope', id: 'scope', blocks: [step('c', { when: 'data.c' })] },
      {
        ...{ type: 'saga', id: 'saga' },
        steps: [
          {
            id: 'one',
            action: step('act', { when: 'data.act' }),
            compensation: step('com', { when: 'data.com' }),
          },
        ],
      },
    ];
    const hooks = { on_failure: [step('hook', { when: 'data.hook' })] };
    const { findings, referencesChecked } = checkDataflow(documentOf(blocks, hooks));
    const found = findings.map(({ consumer, reference }) => `${consumer} ${reference.slice('data.'.length)}`);
    expect(found).toEqual([
      ...[
        'act act',
        'c c',
        'com com',
        'each coll',
        'f f',
        'l l',
        'loop brk',
        'loop cond',
        'p1 branch',
        'r1 r1',
      ],
      ...['r2 r2', 'rou route', 's params', 's when', 'sub input', 't1 t1', 't2 t2', 't3 t3', 'v1 v1'],
    ]);
    expect(referencesChecked).toBe(found.length);
  });

  it('counts a reference of a block once, with and without a fallback', () => {
    const params = ['{{data.x}} {{data.x}}', "{{data.x | 'y'}}", "{{data.x | 'z'}}"];
    const { findings, referencesChecked } = checkDataflow(
      documentOf([step('a', { params }), step('b', { params: ['data.x'] })]),
    );
    expect(referencesChecked).toBe(3);
    expect(findings.map(({ consumer, reference }) => [consumer, reference])).toEqual([
      ['a', 'data.x'],
      ['b', 'data.x'],
    ]);
  });

  it('takes every block of the tree for a producer, also later ones, and nothing that merely looks like one', () => {
    const inner = step('inner', { output_schema: closed({ n: true }) });
    const looksLike = { blocks: [{ type: 'step', id: 'injected', handler: 'noop' }] };
    const blocks = [
      step('use', { params: ['{{outputs.inner.n}}', '{{outputs.injected}}', '{{outputs.hook}}'] }),
      { type: 'cancellation_scope', id: 'scope', blocks: [inner] },
      step('last', { handler: 'self_modify', params: looksLike }),
    ];
    const { findings } = checkDataflow(documentOf(blocks, { on_failure: [step('hook')] }));
    expect(findings.map(({ code, reference }) => [code, reference])).toEqual([
      ['MISSING_PRODUCER', 'outputs.hook'],
      ['MISSING_PRODUCER', 'outputs.injected'],
    ]);
  });

  it('is sorted by consumer, code and reference', () => {
    const blocks = [
      step('b', { params: ['{{state.z}}', '{{outputs.no}}', '{{state.a}}'] }),
      step('a', { when: 'data.x' }),
    ];
    const { findings } = checkDataflow(documentOf(blocks));
    expect(findings.map(({ consumer, code, reference }) => [consumer, code, reference])).toEqual([
      ['a', 'TYPE_UNKNOWN', 'data.x'],
      ['b', 'MISSING_PRODUCER', 'outputs.no'],
      ['b', 'TYPE_UNKNOWN', 'state.a'],
      ['b', 'TYPE_UNKNOWN', 'state.z'],
    ]);
  });

  it('says how many findings it leaves out', () => {
    const texts = Array.from({ length: 10_005 }, (_, index) => `{{state.k${index}}}`);
    const report = checkDataflow(documentOf([step('a', { params: texts })]));
    expect(report).toMatchObject({ referencesChecked: 10_005, omittedCount: 5 });
    expect(report.findings).toHaveLength(10_000);
  });

  it('is quick about schemas whose references double with each level', () => {
    const defs: Record<string, Json> = { d0: closed({ x: { type: 'string' } }) };
    for (let level = 1; level <= 30; level += 1) {
      const ref = { $ref: `#/$defs/d${level - 1}` };
      defs[`d${level}`] = level % 2 === 0 ? { allOf: [ref, ref] } : { anyOf: [ref, ref] };
    }
    const input = { $ref: '#/$defs/d30', $defs: defs };
    expect(['TYPE_UNKNOWN', undefined]).toContain(inData('x', input));
  });
});
