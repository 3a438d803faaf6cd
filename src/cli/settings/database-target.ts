import { resolve } from 'node:path';
import { isAddress } from '../../adapters/postgres/connection/address.ts';

/** Where the data lives. */
export type DatabaseTarget =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'memory' }
  | { readonly kind: 'server'; readonly url: string };

/** Reads `postgres://…`, `postgresql://…`, `pglite:<folder>`, `pglite:memory`; null for anything else. */
export function parseDatabaseUrl(text: string): DatabaseTarget | null {
  if (text === 'pglite:memory') return { kind: 'memory' };
  if (text.startsWith('pglite:')) {
    const folder = text.slice('pglite:'.length).trim();
    return folder === '' ? null : { kind: 'folder', folder };
  }
  return isAddress(text) ? { kind: 'server', url: text } : null;
}

/** For people: a folder as an absolute path, a server without user, password and query. */
export function describeDatabase(target: DatabaseTarget): string {
  switch (target.kind) {
    case 'memory':
      return 'memory (gone when the process ends)';
    case 'folder':
      return resolve(target.folder);
    case 'server': {
      const url = new URL(target.url);
      return `PostgreSQL ${url.host}${url.pathname}`;
    }
    default:
      return target satisfies never;
  }
}
