import { resolve } from 'node:path';
import type { DatabaseTarget } from '../../settings/database-target.ts';

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
