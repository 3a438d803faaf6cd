import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/core/expressions/scope.ts';
import type { Json } from '../../../src/core/json.ts';
import { traceParams, traceValue } from '../../../src/core/template-trace/trace-value.ts';
import { dataScope, fixtureScope } from '../../expressions/scope-fixture.ts';

const scope = dataScope({
  name: 'Ada',
  n: 7,
  nil: null,
  list: [1, 2],
  nick: '',
  api_token: 'abc',
  user: { name: 'Ada', password: 'hunter2' },
  odd: 'sk_live_12345678901234567890',
});

const entryOf = (template: Json, within: Scope = scope) => traceValue(template, within).entries[0];

describe('an entry of a trace [API 4.3]', () => {
  it('names the path that gave the value and keeps its type', () => {
    expect(traceValue('{{ data.n }}', scope)).toEqual({
      resolved: 7,
      entries: [
        {
          ...{ paramPath: '', expression: 'data.n', status: 'ok', value: 7, source: 'data.n' },
          ...{ fallbackUsed: false, coercedToString: false },
        },
      ],
    });
    expect(entryOf('{{context.data.list.1}}')).toMatchObject({ source: 'context.data.list.1', value: 2 });
    expect(entryOf('{{ len( data.list ) }}')).toMatchObject({ source: 'data.list', value: 2, status: 'ok' });
  });

  it('stands for each template in order, with its place', () => {
    const { entries } = traceValue(
      { to: '{{data.name}}', lines: [{ 'a.b': 'x {{data.n}} {{data.gone}}' }] },
      scope,
    );
    expect(entries.map(({ paramPath, expression }) => [paramPath, expression])).toEqual([
      ['to', 'data.name'],
      ['lines[0]["a.b"]', 'data.n'],
      ['lines[0]["a.b"]', 'data.gone'],
    ]);
  });

  it('says when a fallback gave the value, and skips an explicit null', () => {
    expect(entryOf('{{ data.gone | data.nil | data.n }}')).toMatchObject({
      ...{ status: 'ok', value: 7, source: 'data.n', fallbackUsed: true },
    });
    expect(entryOf("{{ data.nil | 'none' }}")).toMatchObject({
      ...{ status: 'ok', value: 'none', source: 'literal', fallbackUsed: true },
    });
    expect(entryOf('{{ data.gone | null }}')).toMatchObject({
      status: 'null',
      value: null,
      source: 'literal',
    });
    expect(entryOf("{{ data.nick | default('you') }}")).toMatchObject({
      source: 'literal',
      fallbackUsed: true,
    });
    expect(entryOf("{{ data.name | default('you') }}")).toMatchObject({
      source: 'data.name',
      fallbackUsed: false,
    });
  });

  it('tells null from missing', () => {
    expect(entryOf('{{data.nil}}')).toMatchObject({ status: 'null', value: null, source: 'data.nil' });
    const missing = entryOf('{{data.gone}}');
    expect(missing).toMatchObject({ status: 'missing', fallbackUsed: false });
    expect(missing).not.toHaveProperty('value');
    expect(missing).not.toHaveProperty('source');
    expect(entryOf('{{data.gone | upper}}')).toMatchObject({ status: 'missing', value: '' });
    expect(traceValue('{{data.gone}}', scope)).toHaveProperty('resolved', null);
  });

  it('says that a value became text, where a missing one prints as null', () => {
    const trace = traceValue('n={{data.n}} {{data.gone}}', scope);
    expect(trace.resolved).toBe('n=7 null');
    expect(trace.entries.map(({ coercedToString }) => coercedToString)).toEqual([true, true]);
  });

  it('is absent for plain text and unbalanced braces', () => {
    for (const text of ['', 'plain', 'a {{ b', '}} {{']) {
      expect(traceValue(text, scope)).toEqual({ resolved: text, entries: [] });
    }
  });

  it('reads no operators', () => {
    expect(entryOf('{{ data.n + 1 }}')).toMatchObject({ status: 'missing' });
    expect(traceValue('{{ 1 + 1 }}', scope)).toMatchObject({
      error: expect.stringContaining('unknown template root'),
    });
  });

  it('stands also behind a template that fails', () => {
    const trace = traceValue({ a: '{{ data.n }} {{ nope.x }} {{ data.name }}', b: '{{data.nil}}' }, scope);
    expect(trace).not.toHaveProperty('resolved');
    expect(trace.error).toContain('unknown template root in "nope.x"');
    expect(trace.entries.map(({ status }) => status)).toEqual(['ok', 'error', 'ok', 'null']);
    expect(trace.entries[1]?.error).toContain('at position 16');
  });
});

describe('the redaction of a trace [API 4.5]', () => {
  it('hides a value whose path names a sensitive key', () => {
    const hidden = { status: 'redacted', value: '[REDACTED]' };
    expect(traceValue('{{data.api_token}}', scope)).toMatchObject({
      resolved: '[REDACTED]',
      entries: [hidden],
    });
    expect(entryOf('{{data.user.password | base64}}')).toMatchObject(hidden);
    expect(entryOf("{{data.name | replace('Ada', data.api_token)}}")).toMatchObject(hidden);
    expect(entryOf('{{len(data.api_token)}}')).toMatchObject(hidden);
    expect(traceValue('x={{data.api_token}} {{data.name}}', scope).resolved).toBe('[REDACTED]');
    const bound = dataScope({}, { items: new Map<string, Json>([['token', 'abc']]) });
    expect(entryOf('{{token}}', bound)).toMatchObject(hidden);
  });

  it('hides a value that looks like a secret, whatever is made of it', () => {
    for (const text of [
      '{{data.odd}}',
      '{{data.odd | base64}}',
      '{{json(data.odd)}}',
      "{{data.gone | 'ghp_x1'}}",
    ]) {
      expect(entryOf(text)).toMatchObject({ status: 'redacted', value: '[REDACTED]' });
    }
    expect(traceValue('Bearer {{data.name}}', scope).resolved).toBe('[REDACTED]');
  });

  it('hides the secret parts of an object, and all of what is made of it', () => {
    const user = { name: 'Ada', password: '[REDACTED]' };
    expect(traceValue('{{data.user}}', scope)).toMatchObject({
      resolved: user,
      entries: [{ status: 'ok', value: user }],
    });
    expect(traceValue('u={{data.user}}', scope).resolved).toBe('u={"name":"Ada","password":"[REDACTED]"}');
    expect(entryOf('{{json(data.user)}}')).toMatchObject({ status: 'redacted' });
    expect(entryOf("{{data.user | replace('a','b')}}")).toMatchObject({ status: 'redacted' });
    expect(entryOf('{{len(data.user)}}')).toMatchObject({ status: 'ok', value: 2 });
  });

  it('hides what stands under a sensitive param', () => {
    const trace = traceValue(
      { headers: { Authorization: { of: '{{data.name}}' } }, plain: '{{data.name}}' },
      scope,
    );
    expect(trace.resolved).toEqual({ headers: { Authorization: '[REDACTED]' }, plain: 'Ada' });
    expect(trace.entries.map(({ status, value }) => [status, value])).toEqual([
      ['redacted', '[REDACTED]'],
      ['ok', 'Ada'],
    ]);
  });

  it('does not take the id of a block for a key', () => {
    const within = fixtureScope({ outputs: new Map<string, Json>([['get_token', { ok: true }]]) });
    expect(entryOf('{{outputs.get_token.ok}}', within)).toMatchObject({ status: 'ok', value: true });
    expect(entryOf('{{outputs.get_token.token}}', within)).toMatchObject({ status: 'missing' });
  });
});

describe('the trace of params', () => {
  it('leaves raw parts of injected blocks alone, as the call does', () => {
    const params = { blocks: [{ id: '{{data.name}}', params: { $raw: { q: '{{data.later}}' } } }] };
    const trace = traceParams('self_modify', params, scope);
    expect(trace.resolved).toEqual({ blocks: [{ id: 'Ada', params: { q: '{{data.later}}' } }] });
    expect(trace.entries.map(({ paramPath }) => paramPath)).toEqual(['blocks[0].id']);
    expect(traceParams('noop', params, scope).entries).toHaveLength(2);
  });
});

describe('a trace of a hostile value', () => {
  it('stops where the values together become too large', () => {
    const large = dataScope({ text: 'x'.repeat(200_000) });
    const trace = traceValue(
      Array.from({ length: 9000 }, () => '{{data.text}}'),
      large,
    );
    expect(trace).not.toHaveProperty('resolved');
    expect(trace.entries.filter(({ status }) => status === 'ok').length).toBeLessThan(90);
    expect(trace.entries.at(-1)?.error).toContain('too large');
  });

  it('names at most as many templates as can be resolved', () => {
    const trace = traceValue('{{data.n}}'.repeat(10_001), scope);
    expect(trace.error).toContain('more than 10000 templates');
    expect(trace.entries).toHaveLength(10_000);
  });
});
