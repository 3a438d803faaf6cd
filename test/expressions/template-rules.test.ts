import { describe, expect, it } from 'vitest';
import { resolveTemplates } from '../../src/core/expressions/template.ts';
import type { Json } from '../../src/core/json.ts';
import { dataScope, fixtureScope } from './scope-fixture.ts';

/** The rules of templates, each with the examples that tell it from what one might expect instead. */

const FAILED = Symbol('TEMPLATE_ERROR');

function resolved(value: Json, data?: Json): Json | typeof FAILED {
  const result = resolveTemplates(value, data === undefined ? fixtureScope() : dataScope(data));
  return result.ok ? result.value : FAILED;
}

describe('paths of templates', () => {
  it('are a root and segments between dots [PATH-1]', () => {
    expect(resolved('{{data.deep.rows.0.sku}}')).toBe('K-1');
    expect(resolved('{{data}}', 5)).toBe(5);
  });

  it('select own members of objects, elements of arrays by digits, and nothing of other values [PATH-2]', () => {
    expect(
      resolved(['{{data.a.1}}', '{{data.a.01}}', '{{data.a.-1}}', '{{data.a.2}}'], { a: ['x', 'y'] }),
    ).toEqual(['y', 'y', null, null]);
    expect(
      resolved(['{{data.o.1}}', '{{data.o.toString}}', '{{data.n.x}}'], { o: { 1: 'one' }, n: 5 }),
    ).toEqual(['one', null, null]);
  });

  it('have no access by brackets: they belong to the name [PATH-3]', () => {
    expect(resolved('{{data.list[0]}}', { list: ['a'] })).toBeNull();
    expect(resolved('{{data.list[0]}}', { 'list[0]': 'named so' })).toBe('named so');
  });

  it('may have any characters in a name but dots, bars, quotes and braces [PATH-4]', () => {
    expect(resolved(['{{data.dash-key}}', '{{outputs.my-step.v}}'])).toEqual(['d', 5]);
    expect(resolved('{{data.größe in cm}}', { 'größe in cm': 7 })).toBe(7);
  });

  it('select the member with the empty name by an empty segment [PATH-5]', () => {
    expect(resolved(['{{data..x}}', '{{data.}}'], { '': { x: 1 } })).toEqual([1, { x: 1 }]);
  });

  it('find no members and no length in a text [PATH-6]', () => {
    expect(resolved(['{{data.s.length}}', '{{data.s.0}}'])).toEqual([null, null]);
  });
});

describe('templates in a value', () => {
  it('are found in all strings at any depth, never in keys [TPL-10]', () => {
    expect(resolved({ '{{data.n}}': [{ deep: '{{data.n}}' }, 3, null, true, 'plain'] })).toEqual({
      '{{data.n}}': [{ deep: 7 }, 3, null, true, 'plain'],
    });
  });

  it('end at the first braces outside quotes; unclosed ones are text [TPL-11]', () => {
    expect(resolved("{{data.gone | '}}' }}")).toBe('}}');
    expect(resolved('a {{data.n')).toBe('a {{data.n');
    expect(resolved('{{ data.n}} {{')).toBe('7 {{');
  });

  it('are split at bars outside quotes and parentheses, and trimmed [TPL-12]', () => {
    expect(resolved("{{  data.gone  |  'a|b'  }}")).toBe('a|b');
    expect(resolved("{{data.names | join('|') }}")).toBe('Ivo|Ada|Ivo');
  });

  it('that are the whole string keep their type [TPL-13]', () => {
    expect(resolved(['{{data.n}}', '{{data.obj}}', '{{data.nil}}', ' {{data.n}}'])).toEqual([
      7,
      { a: 1, b: 2 },
      null,
      ' 7',
    ]);
  });

  it('inside other text become text [TPL-14]', () => {
    expect(resolved('{{data.s}}/{{data.nil}}/{{data.gone}}/{{data.t}}/{{data.f}}/{{data.obj}}')).toBe(
      'Plum/null/null/true/2.675/{"a":1,"b":2}',
    );
  });

  it('are resolved once: text that comes out of one is not looked at again [TPL-15] [SEC-5]', () => {
    expect(resolved(['{{data.tpl}}', 'x{{data.tpl}}'])).toEqual(['{{data.n}}', 'x{{data.n}}']);
    expect(resolved("{{data.a | replace('x', '{')}}", { a: 'xxdata.b}}' })).toBe('{{data.b}}');
  });
});

describe('chains', () => {
  it('begin with a path under a known root, or a call over one [CHAIN-1]', () => {
    expect(resolved('{{len(data.list)}}')).toBe(3);
    for (const text of ['{{}}', "{{'literal'}}", '{{5}}', '{{nobody.x}}'])
      expect(resolved(text)).toBe(FAILED);
  });

  it('take the first path that has a value, or the first literal, and pass null over [CHAIN-2]', () => {
    expect(resolved('{{data.gone | data.nil | data.n | data.s}}')).toBe(7);
    expect(resolved("{{data.gone | '' | data.n}}")).toBe('');
    expect(resolved('{{data.gone | null | data.n}}')).toBeNull();
    expect(resolved('{{data.gone | upper | data.n}}')).toBe('');
  });

  it('without a value are null [CHAIN-3]', () => {
    expect(resolved('{{data.gone | data.nil}}')).toBeNull();
  });

  it('then apply their filters from left to right and ignore what is none [CHAIN-4]', () => {
    expect(resolved("{{data.s | upper | data.n | truncate(2, '..')}}")).toBe('PL..');
  });

  it('read what is no path as a literal: quoted, a number, a word [CHAIN-5]', () => {
    expect(
      resolved([
        "{{data.gone | 'q q'}}",
        '{{data.gone | -1.5}}',
        '{{data.gone | true}}',
        '{{data.gone | uper}}',
      ]),
    ).toEqual(['q q', -1.5, true, 'uper']);
  });

  it('take false, 0 and empty values for values [CHAIN-6]', () => {
    for (const name of ['no', 'zero', 'empty', 'none', 'bare']) {
      expect(resolved(`{{data.${name} | 'other'}}`)).not.toBe('other');
    }
    expect(resolved("{{data.empty | default('other')}}")).toBe('other');
  });
});

describe('filters', () => {
  it('take arguments in quotes or bare, and replace takes a path [FIL-1]', () => {
    expect(resolved("{{data.s | replace('Pl', data.n)}}")).toBe('7um');
    expect(resolved('{{data.names | join( ; )}}')).toBe('Ivo;Ada;Ivo');
    expect(resolved("{{data.s | replace(',', 'x')}}", { s: 'a,b' })).toBe('axb');
  });

  it('need their closing parenthesis, and none with empty ones [FIL-2]', () => {
    expect(resolved('{{data.s | truncate(2}}')).toBe(FAILED);
    expect(resolved('{{data.gone | upper()}}')).toBe('upper()');
  });

  it('give no more than 4 MiB [FIL-3]', () => {
    const data = { s: 'a'.repeat(70_000) };
    expect(resolved(`{{data.s | replace('a', '${'b'.repeat(59)}')}}`, data)).toHaveLength(59 * 70_000);
    expect(resolved(`{{data.s | replace('a', '${'b'.repeat(60)}')}}`, data)).toBe(FAILED);
  });
});

describe('errors of templates', () => {
  it('are unknown roots and functions, wrong arguments, bad base64 and size, but no missing path [MODE-3]', () => {
    for (const text of [
      '{{nobody}}',
      '{{context.secrets}}',
      '{{nope(data.n)}}',
      "{{data.s | hash('md5')}}",
      '{{data.badb64 | base64_decode}}',
    ]) {
      expect(resolved(text)).toBe(FAILED);
    }
    expect(resolved('{{data.gone.further}}')).toBeNull();
  });

  it('name path, position and kind, never a value [SEC-7]', () => {
    const result = resolveTemplates(
      { a: ['{{data.s}}', 'x {{nobody.q}}'] },
      dataScope({ s: 'secret-value' }),
    );
    expect(result.ok ? '' : result.error.message).toMatch(/nobody/);
    expect(JSON.stringify(result)).toContain('/a/1');
    expect(JSON.stringify(result)).not.toContain('secret-value');
  });
});
