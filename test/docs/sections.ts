import { readFileSync } from 'node:fs';
import { type Json, type JsonObject, isJsonObject } from '../../src/core/json.ts';

/** The text under a heading, up to the next one of the same level or above. */
export function sectionOf(page: string, heading: string): string {
  const level = heading.split(' ')[0]?.length ?? 0;
  const lines = readFileSync(page, 'utf8').split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`${page} has no section ${heading}`);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => (/^(#+) /.exec(line)?.[1]?.length ?? 9) <= level);
  return rest.slice(0, end < 0 ? rest.length : end).join('\n');
}

/** Rows of the tables whose first heading is `title`, by the names in their first cell; a row may have several names. */
export function rowsOf(section: string, title: string): ReadonlyMap<string, readonly string[]> {
  const rows = new Map<string, readonly string[]>();
  let inside = false;
  for (const line of section.split('\n')) {
    if (!line.startsWith('|')) inside = false;
    else if (line.startsWith(`| ${title} |`)) inside = true;
    else if (inside) {
      const cells = line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim());
      for (const [, name = ''] of (cells[0] ?? '').matchAll(/`([^`]+)`/g)) rows.set(name, cells);
    }
  }
  return rows;
}

/** The JSON examples of a page as documents that a publish takes: one that is a block alone gets one around it. */
export function examplesOf(page: string): readonly (readonly [string, JsonObject])[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```json\n([\s\S]*?)^```$/gm)];
  return blocks.map(([, text = ''], index) => {
    // A documented example is data from outside; what is wrong with it, the parser says.
    const parsed: Json = JSON.parse(text) as Json;
    if (!isJsonObject(parsed)) throw new Error(`example ${index + 1} of ${page} is no object`);
    const draft =
      Object.hasOwn(parsed, 'blocks') && Object.hasOwn(parsed, 'name') ? parsed : { blocks: [parsed] };
    return [`${page} example ${index + 1}`, { ...FILLED_IN, ...draft }] as const;
  });
}

/** What a publish fills in. */
export const FILLED_IN = {
  id: '5d0c3f0a-9b1e-4f57-8a3c-1e2f60b7a911',
  tenant_id: 'default',
  namespace: 'default',
  name: 'example',
  version: 1,
  created_at: '2026-01-01T00:00:00Z',
};
