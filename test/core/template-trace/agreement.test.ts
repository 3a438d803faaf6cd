import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/core/expressions/scope.ts';
import { resolveTemplates } from '../../../src/core/expressions/template.ts';
import { type Json, jsonObject } from '../../../src/core/json.ts';
import { redact } from '../../../src/core/redaction.ts';
import { traceValue } from '../../../src/core/template-trace/trace-value.ts';
import { bits, json, TEMPLATE_BITS } from '../../expressions/arbitraries.ts';
import { fixtureScope } from '../../expressions/scope-fixture.ts';
import vectors from '../../expressions/template-vectors.json' with { type: 'json' };

const scope = fixtureScope();

/** A path of the fixture, or one that leads nowhere. */
const path = fc.constantFrom(
  ...[
    'data.n',
    'data.s',
    'data.gone',
    'data.nil',
    'data.obj',
    'data.list',
    'data.empty',
    'data.zero',
    'row.sku',
  ],
  ...[
    'config.limits.max',
    'outputs.fetch.total',
    'steps.fetch.items',
    'state.cursor',
    'input.ref',
    'instance_id',
  ],
);
const source = fc.oneof(
  { weight: 4, arbitrary: path },
  path.map((inner) => `json(${inner})`),
  path.map((inner) => `len( ${inner} )`),
);
const segment = fc.oneof(
  source,
  fc.constantFrom("'x'", '7', 'null', 'true', 'spare', '"a|b"', ''),
  fc.constantFrom('upper', 'trim', "default('d')", 'default(null)', 'truncate(2)', "replace('l', data.n)"),
  fc.constantFrom('round(1)', "join(',')", "split('')", 'abs', 'base64', "replace('', x)"),
);
const chain = fc
  .tuple(source, fc.array(segment, { maxLength: 4 }))
  .map(([first, rest]) => `{{ ${[first, ...rest].join(' | ')} }}`);
const text = fc.oneof(
  chain,
  fc
    .array(fc.oneof(chain, fc.constantFrom('a ', ' {{ b', '}}', ' c')), { maxLength: 4 })
    .map((parts) => parts.join('')),
  bits(TEMPLATE_BITS),
);
const params = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(null, true, 3),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom('to', 'body', 'a.b', '__proto__'), tie('value')), { maxLength: 3 })
      .map(jsonObject),
  ),
})).value;

/** What the engine gives, and what the trace says about it. */
function expectAgreement(value: Json, within: Scope): void {
  const trace = traceValue(value, within);
  const resolved = resolveTemplates(value, within);
  expect({ resolved: trace.resolved, error: trace.error }).toEqual({
    resolved: resolved.ok ? redact(resolved.value) : undefined,
    error: resolved.ok ? undefined : resolved.error.message,
  });
  expect(resolved.ok && trace.entries.some(({ status }) => status === 'error')).toBe(false);
}

describe('the trace of a value with templates', () => {
  it('resolves to what the engine resolves it to, or fails as it does [API 4.3]', () => {
    let resolvedCount = 0;
    const check = fc.property(params, (value) => {
      expectAgreement(value, scope);
      if (resolveTemplates(value, scope).ok) resolvedCount += 1;
    });
    fc.assert(check, { numRuns: 2000 });
    expect(resolvedCount).toBeGreaterThan(500);
  });

  it('agrees over any data, bindings included', () => {
    const scopes = fc
      .record({ data: json, config: json, item: json })
      .map(({ data, config, item }) => fixtureScope({ data, config, items: new Map([['row', item]]) }));
    fc.assert(
      fc.property(params, scopes, (value, within) => expectAgreement(value, within)),
      { numRuns: 500 },
    );
  });

  it('shows for a whole text the value of its one entry', () => {
    fc.assert(
      fc.property(chain, (template) => {
        const { resolved, entries } = traceValue(template, scope);
        const [entry] = entries;
        expect(entries).toHaveLength(1);
        expect(entry?.coercedToString).toBe(false);
        expect(resolved === undefined ? undefined : (entry?.value ?? null)).toEqual(resolved);
      }),
      { numRuns: 1000 },
    );
  });

  it('agrees with every vector of the specification', () => {
    for (const { text: vector } of vectors) expectAgreement(vector, scope);
  });
});
