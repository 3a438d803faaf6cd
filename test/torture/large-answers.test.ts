import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { MIGRATED } from '../postgres/store-database.ts';
import { type ServerProcess, startServer } from '../support/cli-process.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { newInstance, nextId, TENANT } from '../support/turn-builder.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const RUNS = 300;
const AT_ONCE = 8;
const LARGE = { text: 'x'.repeat(200 * 1024) };
/** What all requests together would bring is several times as much. */
const HEAP_MB = 256;

let folder: string;
let server: ServerProcess;
let store: Store;
const sessionId = nextId();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepwell-large-'));
  const database = await createTestDatabase(MIGRATED);
  store = createPostgresStore(createPgDriver({ connectionString: database.url, poolSize: 1 }));
  await store.insertSession({ id: sessionId, tenantId: TENANT, sessionKey: 'k', data: {}, expiresAt: null });
  for (let at = 0; at < RUNS; at += 20) {
    // Far ahead, so that nothing runs.
    const nextFireAt = Date.now() + 86_400_000;
    const instances = Array.from({ length: 20 }, () => newInstance({ data: LARGE, sessionId, nextFireAt }));
    await store.start({ instances, onKnownKey: 'first' });
  }
  const env = {
    STEPWELL_INSECURE: '1',
    STEPWELL_DATABASE_URL: database.url,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  };
  server = await startServer(['dev'], { cwd: folder, env });
});

afterAll(async () => {
  await server.end('SIGKILL');
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (path: string): Promise<Response> =>
  fetch(`${server.url}/api/v1${path}`, { headers: { 'x-tenant-id': TENANT } });
const together = <T>(work: () => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, work));

/** The most that the process has ever held, in MB. */
function peakMb(): number {
  const [, kb = '0'] =
    /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

async function allIds(): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let query = ''; ; ) {
    const response = await ask(`/instances?limit=1000&order=created${query}`);
    expect(response.status).toBe(200);
    const page = await response.json();
    for (const { id } of page.items) ids.add(id);
    if (!page.has_more) return ids;
    query = `&cursor=${page.next_cursor}`;
  }
}

describe('a server with a small heap that is asked for more than it can hold', () => {
  it('answers page by page to all who ask at once', async () => {
    for (const ids of await together(allIds)) expect(ids.size).toBe(RUNS);
  });

  it('refuses lists without pages to all who ask at once', async () => {
    for (const response of await together(() => ask(`/sessions/${sessionId}/instances`))) {
      expect([response.status, (await response.json()).code]).toEqual([413, 'answer_too_large']);
    }
  });

  it('has never held more than some of it', async () => {
    expect((await ask('/instances/summary')).status).toBe(200);
    expect(server.child.exitCode).toBeNull();
    expect(peakMb()).toBeLessThan(2 * HEAP_MB);
  });
});
