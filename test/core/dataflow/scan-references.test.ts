import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanReferences } from '../../../src/core/dataflow/scan-references.ts';

const texts = (text: string): readonly string[] => scanReferences(text).map((reference) => reference.text);

describe('the search for references [API 4.2]', () => {
  it('finds the four roots at the beginning of a word', () => {
    expect(texts('{{ outputs.a.b }} data.x + state.k, config.y')).toEqual([
      ...['outputs.a.b', 'data.x', 'state.k', 'config.y'],
    ]);
    expect(texts('metadata.user _data.x 9data.x édata.x x.data.y context.data.x input.x steps.a')).toEqual(
      [],
    );
    expect(texts('(data.x)!data.y my-data.z')).toEqual(['data.x', 'data.y', 'data.z']);
    expect(texts('data. x data outputs.')).toEqual([]);
  });

  it('takes the longest run as the path, with indexes in brackets', () => {
    expect(scanReferences('{{data.items[0].id}}')).toEqual([
      { root: 'data', segments: ['items', '0', 'id'], text: 'data.items[0].id', hasFallback: false },
    ]);
    expect(scanReferences('outputs.look-up.größe_2 > 1')[0]?.segments).toEqual(['look-up', 'größe_2']);
    expect(texts('data.a/data.b')).toEqual(['data.a', 'data.b']);
  });

  it('sees a fallback in any single pipe before the end of the template', () => {
    const fallbacks = (text: string): readonly boolean[] =>
      scanReferences(text).map((found) => found.hasFallback);
    expect(fallbacks("{{ data.x | 'y' }}")).toEqual([true]);
    expect(fallbacks('{{ data.x | upper }}')).toEqual([true]);
    expect(fallbacks('{{ data.x | data.y }}')).toEqual([true, false]);
    expect(fallbacks('{{ data.x || data.y }}')).toEqual([false, false]);
    expect(fallbacks('{{ data.x }} | {{ data.y }}')).toEqual([false, false]);
    expect(fallbacks('data.x | 1')).toEqual([false]);
    expect(fallbacks('{{ data.x }} {{ data.y | 1 }} data.z')).toEqual([false, true, false]);
  });

  it('agrees with a search that looks at each place anew', () => {
    const piece = fc.constantFrom(
      'data.a',
      'outputs.b.0',
      ' ',
      '|',
      '||',
      '{{',
      '}}',
      '.',
      'x',
      '-',
      '[1]',
      '(',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map((parts) => parts.join('')),
        (text) => {
          for (const { text: path, hasFallback, segments } of scanReferences(text)) {
            expect(
              path
                .split(/[.[\]]+/)
                .filter((part) => part !== '')
                .slice(1),
            ).toEqual(segments);
            if (text.indexOf(path) !== text.lastIndexOf(path)) continue;
            const behind = text.slice(text.indexOf(path) + path.length);
            const inside = behind.includes('}}') ? behind.slice(0, behind.indexOf('}}')) : '';
            expect(hasFallback).toBe(/(?<!\|)\|(?!\|)/.test(inside.replaceAll(/\|\|+/g, '')));
          }
        },
      ),
    );
  });

  it('stays linear where a text names much and closes nothing', () => {
    expect(scanReferences('data.a | '.repeat(100_000))).toHaveLength(100_000);
  });
});
