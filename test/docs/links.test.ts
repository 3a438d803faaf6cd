import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const pages = [
  'README.md',
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

/** The text of a page without its code blocks, in which nothing is a heading or a link. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
}

/** The anchors of a page's headings, as they are made when it is shown. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text.trim().toLowerCase(),
  );
  return new Set(headings.map((text) => text.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-')));
}

function brokenLinks(page: string): readonly string[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^https?:/.test(link)) return [];
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? page : join(dirname(page), file);
    if (!existsSync(target)) return [`${link}: no such file`];
    const isKnown = anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor);
    return isKnown ? [] : [`${link}: no such heading`];
  });
}

describe('the links of the pages for users', () => {
  it.each(pages)('of %s lead to files and headings that are there', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });
});
