import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveTemplates } from '../../../src/core/expressions/template.ts';
import { type Json, jsonObject } from '../../../src/core/json.ts';
import { traceValue } from '../../../src/core/template-trace/trace-value.ts';
import { dataScope } from '../../expressions/scope-fixture.ts';

const SECRET = 'S3CRETxyz';
const SHAPED = `ghp_${SECRET}`;

const scope = dataScope(
  {
    name: 'Ada',
    password: SECRET,
    user: { token: SECRET, tags: ['a', SHAPED] },
    shaped: SHAPED,
    list: [SHAPED, 'b'],
  },
  {
    outputs: new Map<string, Json>([['login', { access_token: SECRET, ok: true }]]),
    items: new Map<string, Json>([['secret', { n: SECRET }]]),
    state: new Map<string, Json>([['api_key', SECRET]]),
  },
);

const path = fc.constantFrom(
  ...[
    'data',
    'data.name',
    'data.password',
    'data.user',
    'data.user.token',
    'data.user.tags',
    'data.user.tags.1',
  ],
  ...['data.shaped', 'data.list', 'data.list.0', 'outputs', 'outputs.login', 'outputs.login.access_token'],
  ...['secret', 'secret.n', 'data.secret.n', 'state', 'state.api_key', 'data.gone'],
);
const source = fc.oneof(
  path,
  path.map((inner) => `json(${inner})`),
);
const filter = fc.oneof(
  fc.constantFrom(
    'upper',
    'lower',
    'trim',
    'base64',
    'url_encode',
    "join('')",
    "split('')",
    'truncate(6)',
    "default('d')",
  ),
  fc.constantFrom(
    "replace('Ada', data.password)",
    "replace('a', data.user)",
    "replace('{', '[')",
    "replace('\"', '')",
  ),
);
const chain = fc
  .tuple(source, fc.array(fc.oneof(source, filter), { maxLength: 3 }))
  .map(([first, rest]) => `{{ ${[first, ...rest].join(' | ')} }}`);
const params = fc
  .array(
    fc.tuple(
      fc.constantFrom('plain', 'auth', 'x_signature'),
      fc.oneof(
        chain,
        chain.map((text) => `a ${text} b`),
      ),
    ),
    {
      minLength: 1,
      maxLength: 2,
    },
  )
  .map(jsonObject);

/** Every text of a value, all in one. */
function textsOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[",[\]\\]/g, '');
}

/** The secret, what the filters make of it, and the beginnings that they leave. */
const TRACES = /s3cr|UzNDU|Z2hwX|ghp_/i;

describe('a trace of values with secrets', () => {
  it('never shows one, whatever the templates make of it [API 4.5]', () => {
    let secretCount = 0;
    const check = fc.property(params, (value) => {
      const { entries, resolved } = traceValue(value, scope);
      const shown = entries.map(({ value: inner, error }) => ({ inner, error }));
      expect(TRACES.exec(textsOf({ shown, resolved: resolved ?? null }))?.[0]).toBeUndefined();
      const real = resolveTemplates(value, scope);
      if (real.ok && TRACES.test(textsOf(real.value))) secretCount += 1;
    });
    fc.assert(check, { numRuns: 3000 });
    expect(secretCount).toBeGreaterThan(1000);
  });
});
