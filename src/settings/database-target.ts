import { isAddress } from '../adapters/postgres/connection/address.ts';

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
