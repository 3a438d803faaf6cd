import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '../../src/core/expressions/evaluate.ts';
import type { Scope } from '../../src/core/expressions/scope.ts';
import { resolveTemplateText } from '../../src/core/expressions/template.ts';
import { type Json, jsonObject } from '../../src/core/json.ts';
import { dataScope, fixtureScope } from './scope-fixture.ts';

function evaluate(text: string, scope: Scope): unknown {
  const result = evaluateExpression(text, scope, 'strict');
  return result.ok ? result.value : result.error.message;
}

function resolve(text: string, scope: Scope): unknown {
  const result = resolveTemplateText(text, scope);
  return result.ok ? result.value : result.error.message;
}

describe('names of a path', () => {
  const scope = dataScope({ '': { '': 'deep' }, a: { '': 1 }, list: ['x', 'y'], digits: { '0': 'member' } });

  test.each([
    ['data.', { '': 'deep' }],
    ['data..', 'deep'],
    ['data.a.', 1],
    ['data.list.01', 'y'],
    ['data.list.99999999999999999999', null],
    ['data.list.', null],
    ['data.digits.0', 'member'],
    ['data.a.b.c.d', null],
    ['context.data.list.0', 'x'],
  ])('%s reads the same in both languages', (path, expected) => {
    expect(evaluate(path, scope)).toEqual(expected);
    expect(resolve(`{{${path}}}`, scope)).toEqual(expected);
  });

  test('a template name may hold blanks, hyphens, brackets and any letters', () => {
    const names = { 'my key': 1, 'a-b': 2, 'x[0]': 3, naïve: 4, '{': 5, 'f(x)': 6 };
    for (const [name, value] of Object.entries(names)) {
      expect(resolve(`{{ data.${name} }}`, dataScope(names))).toBe(value);
    }
  });

  test('blanks around a dot belong to the names', () => {
    expect(resolve('{{data. x}}', dataScope({ ' x': 1, x: 2 }))).toBe(1);
    expect(resolve('{{data .x}}', dataScope({ x: 2 }))).toBe(
      'unknown template root in "data .x" at position 2',
    );
  });
});

describe('roots', () => {
  const scope = fixtureScope();

  test.each(['data', 'context.data'])('%s alone is the stored data with the bindings on top', (root) => {
    const whole = evaluate(`get(${root}, 'row', 'sku')`, scope);
    expect(whole).toBe('K-9');
    expect(evaluate(root, scope)).toMatchObject({ n: 7, row: { sku: 'K-9' } });
    expect(resolve(`{{${root}}}`, scope)).toMatchObject({ n: 7, row: { sku: 'K-9' } });
    expect(Object.keys(Object(scope.data))).not.toContain('row');
  });

  test('outputs, steps, config and runtime can be read as a whole', () => {
    expect(evaluate('keys(outputs)', scope)).toEqual(['fetch', 'flat', 'my-step']);
    expect(evaluate('steps == outputs', scope)).toBe(true);
    expect(resolve('{{steps}}', scope)).toEqual(Object.fromEntries(scope.outputs));
    expect(resolve('{{config}}', scope)).toEqual(scope.config);
    expect(resolve('{{runtime}}', scope)).toEqual(scope.runtime());
    expect(evaluate('context.config == config', scope)).toBe(true);
  });

  test('state is the store in templates and a key of data in expressions', () => {
    expect(resolve('{{state}}', scope)).toEqual({ cursor: 'c-17', count: 3 });
    expect(evaluate('state', scope)).toEqual({ mode: 'm' });
    expect(evaluate('state.cursor', scope)).toBe(null);
  });

  test('the id of the instance has no members', () => {
    expect(resolve('{{instance_id.length}}', scope)).toBe(null);
    expect(evaluate('instance_id.0', scope)).toBe(null);
    expect(evaluate('len(instance_id)', scope)).toBe(36);
  });

  test.each(['context', 'context.runtime', 'context.datas.x'])(
    '%s is null in expressions and an error in templates',
    (path) => {
      expect(evaluate(path, scope)).toBe(null);
      expect(evaluate(`get(${path}, 'data')`, scope)).toBe(null);
      expect(resolve(`{{${path}}}`, scope)).toBe(`unknown section of context in "${path}" at position 2`);
    },
  );

  test('quotes in a path are an error once the path is reached', () => {
    expect(resolve("{{data.'n'}}", scope)).toBe(`quotes in the path "data.'n'" at position 2`);
    expect(resolve(`{{data.n | data."n"}}`, scope)).toBe(7);
  });
});

describe('bindings and the error object lie over data', () => {
  const item: Json = { sku: 1 };
  const items = new Map<string, Json>([
    ['row', item],
    ['my-item', 2],
    ['outputs', 'bound'],
    ['none', null],
  ]);
  const stored = { row: 'stored', _error: 'old', kept: true };

  test('a binding hides the stored key of its name and nothing else', () => {
    const scope = dataScope(stored, { items });
    expect(evaluate('[row.sku, data.row.sku, context.data.row.sku, kept]', scope)).toEqual([1, 1, 1, true]);
    expect(resolve('{{row.sku}}{{data.row.sku}}{{data.kept}}', scope)).toBe('11true');
    expect(stored.row).toBe('stored');
  });

  test('a binding to null hides the stored key too', () => {
    expect(evaluate('none', dataScope({ none: 'stored' }, { items }))).toBe(null);
    expect(resolve('{{none}}', dataScope({ none: 'stored' }, { items }))).toBe(null);
  });

  test('a name that is no identifier is bound under data only', () => {
    const scope = dataScope(stored, { items });
    expect(resolve('{{data.my-item}}', scope)).toBe(2);
    expect(resolve('{{my-item}}', scope)).toBe('unknown template root in "my-item" at position 2');
  });

  test('a binding never hides a root', () => {
    const scope = dataScope(stored, { items, outputs: new Map([['b', 1]]) });
    expect(resolve('{{outputs.b}}', scope)).toBe(1);
    expect(evaluate('outputs.b', scope)).toBe(1);
    expect(evaluate('data.outputs', scope)).toBe('bound');
  });

  test('the name of a binding is a root in fallbacks, and plain text where nothing is bound', () => {
    expect(resolve('{{data.gone | row.sku}}', dataScope(stored, { items }))).toBe(1);
    expect(resolve('{{data.gone | row.sku}}', dataScope(stored))).toBe('row.sku');
    expect(resolve('{{data.gone | len(row)}}', dataScope(stored, { items }))).toBe(1);
    expect(resolve('{{data.gone | len(row)}}', dataScope(stored))).toBe('len(row)');
    expect(resolve('{{len(row)}}', dataScope(stored))).toBe(
      'unknown template root in "len(row)" at position 2',
    );
  });

  test('the error object is what data._error reads as', () => {
    const scope = dataScope(stored, { error: { code: 'X' } });
    expect(evaluate('[_error.code, data._error.code]', scope)).toEqual(['X', 'X']);
    expect(resolve('{{data._error.code}}', scope)).toBe('X');
    expect(evaluate('data', scope)).toEqual({ ...stored, _error: { code: 'X' } });
    expect(evaluate('_error', dataScope(stored))).toBe('old');
    expect(evaluate('_error', dataScope(stored, { error: null }))).toBe(null);
    expect(resolve('{{_error}}', scope)).toBe('unknown template root in "_error" at position 2');
  });

  test.each([null, 5, 'text', [1, 2]])('bindings are readable by path when data is %j', (data) => {
    const scope = dataScope(data, { items, error: 'E' });
    expect(evaluate('[row.sku, _error, gone]', scope)).toEqual([1, 'E', null]);
    expect(evaluate('data', scope)).toEqual(data);
  });

  test('input reads the binding of that name', () => {
    expect(
      evaluate('input.x', dataScope({ input: { x: 1 } }, { items: new Map([['input', { x: 2 }]]) })),
    ).toBe(2);
  });
});

describe('only own members are reachable', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', 'valueOf'];

  test.each(names)('%s is missing everywhere unless the value has it', (name) => {
    const scope = dataScope({ o: {}, l: [1], s: 'x', n: 1, b: true });
    const roots = ['data', 'data.o', 'data.l', 'data.s', 'data.n', 'data.b', 'config', 'outputs', 'runtime'];
    for (const root of roots) {
      expect(evaluate(`${root}.${name}`, scope)).toBe(null);
      expect(evaluate(`get(${root}, '${name}', 'name')`, scope)).toBe(null);
      expect(evaluate(`get(first([${root}]), '${name}')`, scope)).toBe(null);
      expect(resolve(`{{${root}.${name}}}`, scope)).toBe(null);
    }
    expect(resolve(`{{state.${name}}}`, scope)).toBe(null);
    expect(evaluate(`${name}(s)`, scope)).toBe(null);
    expect(resolve(`{{data.gone | ${name}}}`, scope)).toBe(name);
  });

  test.each(names)('%s is an ordinary key when the value has it', (name) => {
    const own = jsonObject([[name, { x: 1 }]]);
    const scope = dataScope(own, { outputs: new Map([[name, own]]) });
    expect(evaluate(`data.${name}.x`, scope)).toBe(1);
    expect(evaluate(`outputs.${name}.${name}.x`, scope)).toBe(1);
    expect(resolve(`{{data.${name}.x}}`, scope)).toBe(1);
    expect(evaluate('keys(data)', scope)).toEqual([name]);
    expect(evaluate('values(outputs)', scope)).toEqual([own]);
    expect(evaluate('json(outputs)', scope)).toBe(`{"${name}":{"${name}":{"x":1}}}`);
    expect(evaluate('data == get(outputs, keys(data))', scope)).toBe(false);
    expect(evaluate('data == get(outputs, first(keys(data)))', scope)).toBe(true);
  });

  test('a key __proto__ of a resolved object stays an own key', () => {
    const own = jsonObject([['__proto__', '{{data.x}}']]);
    const resolved = resolve('{{data}}', dataScope(own, { items: new Map([['__proto__', 1]]) }));
    expect(Object.keys(Object(resolved))).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(resolved)).toBe(Object.prototype);
  });
});
