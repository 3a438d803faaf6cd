import { describe, expect, test } from 'vitest';
import { expressionReferences, templateReferences } from '../../src/core/expressions/references.ts';
import type { Json } from '../../src/core/json.ts';

describe('references of an expression', () => {
  test.each([
    ['data.x + config.y', []],
    ['outputs.a.b', ['a']],
    ['steps.a', ['a']],
    ['outputs.', ['']],
    ['outputs.my-step.v', ['my']],
    ["get(outputs, 'my-step', 'v')", ['my-step']],
    ["get(steps, 'a', n)", ['a']],
    ["get(get(outputs, 'a'), 'b')", ['a']],
    ['get(outputs, n)', 'all'],
    ['get(outputs, 1)', 'all'],
    ['get(outputs)', 'all'],
    ["get(outputs, 'a' + 'b')", 'all'],
    ["get(first([outputs]), 'a')", 'all'],
    ['outputs', 'all'],
    ['outputs.a && keys(steps)', 'all'],
    ['!outputs.a', ['a']],
    ['-outputs.a', ['a']],
    ['outputs.a || outputs.b && outputs.c', ['a', 'b', 'c']],
    ['outputs.a + 1 - outputs.b', ['a', 'b']],
    ['outputs.a < outputs.b', ['a', 'b']],
    ['outputs.a in [outputs.b]', ['a', 'b']],
    ['outputs.a ? outputs.b : outputs.c', ['a', 'b', 'c']],
    ['shout(outputs.a)', ['a']],
    ["'outputs.a'", []],
    ['outputs.a )', []],
    ['', []],
    ['{{ outputs.a }}', ['a']],
    ['outputs.constructor', ['constructor']],
  ])('%s reads %j', (text, outputs) => {
    const references = expressionReferences(text);
    expect(references.outputs === 'all' ? 'all' : [...references.outputs]).toEqual(outputs);
    expect(references.state).toEqual(new Set());
  });

  test('the bare name state is a key of data and reads no store', () => {
    expect(expressionReferences("state.x + get(state, 'y')")).toEqual({
      outputs: new Set(),
      state: new Set(),
    });
  });
});

describe('references of templates', () => {
  test.each<[Json, readonly string[] | 'all', readonly string[] | 'all']>([
    ['{{data.x}}', [], []],
    ['outputs.a', [], []],
    ['{{outputs.a}} {{steps.b-c d.e}}', ['a', 'b-c d'], []],
    ['{{state.k.l}}', [], ['k']],
    ['{{outputs}}', 'all', []],
    ['{{outputs.a}}{{json(steps)}}', 'all', []],
    ['{{len(state)}}', [], 'all'],
    ['{{data.x | outputs.a | json(state.k)}}', ['a'], ['k']],
    ['{{data.x | default(outputs.a)}}', [], []],
    ["{{data.x | 'outputs.a' | upper}}", [], []],
    ['{{data.x | replace(a, outputs.b)}}', ['b'], []],
    ["{{data.x | replace(a, 'outputs.b')}}", [], []],
    ['{{row.x | context.z}}', [], []],
    ['{{outputs.a}} {{data.x | round(99)}}', [], []],
    [{ '{{outputs.k}}': [1, null, '{{outputs.a}}', { x: ['{{state.s}}'] }] }, ['a'], ['s']],
    [7, [], []],
  ])('%j reads outputs %j and state %j', (value, outputs, state) => {
    const references = templateReferences(value);
    expect(references.outputs === 'all' ? 'all' : [...references.outputs]).toEqual(outputs);
    expect(references.state === 'all' ? 'all' : [...references.state]).toEqual(state);
  });

  test('values nested without end are not followed', () => {
    let endless: Json = '{{outputs.a}}';
    for (let level = 0; level < 100_000; level += 1) endless = [endless];
    expect(templateReferences(endless)).toEqual({ outputs: new Set(), state: new Set() });
  });
});
