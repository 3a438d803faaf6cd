import { neonConfig } from '@neondatabase/serverless';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type NeonLocal, startNeonLocal } from '../../support/neon-local.ts';
import { createTestDatabase } from '../../support/postgres-database.ts';
import { nextId } from '../../support/turn-builder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type CloudflareProject, deployDryRun } from '../support/cloudflare-project.ts';
import { type RunningWorker, startWorker } from '../support/cloudflare-worker.ts';

let neon: NeonLocal;
let databaseUrl: string;
let client: pg.Client;
let project: CloudflareProject;
let worker: RunningWorker | null = null;

beforeAll(async () => {
  neon = await startNeonLocal();
  databaseUrl = (await createTestDatabase()).url;
  project = await deployDryRun(databaseUrl);
  client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
});
afterEach(async () => {
  await worker?.close();
  worker = null;
});
afterAll(async () => {
  await client.end();
  project.remove();
  await neon.close();
});

/** A version of the Worker in a runtime of its own, and nothing else. */
async function start(text = 'is sorted', uploadedAt?: number): Promise<RunningWorker> {
  await worker?.close();
  const bundle = project.bundle.replaceAll('is sorted', text);
  worker = await startWorker({
    project: { ...project, bundle },
    databaseUrl,
    neonEndpoint: String(neonConfig.fetchEndpoint),
    variables: { STEPWELL_INSECURE: '1' },
    ...(uploadedAt === undefined ? {} : { uploadedAt }),
  });
  return worker;
}

/** What tells the versions of the template's sequence apart, newest first. */
async function published(): Promise<readonly string[]> {
  const { rows } = await client.query(
    "SELECT definition::text AS text FROM stepwell.sequences WHERE name = 'github-webhook' ORDER BY version DESC",
  );
  return rows.map(({ text }) => /is sorted[a-z ]*/.exec(text)?.[0] ?? 'another text');
}

describe('versions of the Worker', () => {
  it('leave the database as it is when they are only uploaded, and in a dry run that says so', async () => {
    // A migration would not find this one.
    const elsewhere = { STEPWELL_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const upload = ['versions', 'upload', '--dry-run'];
    expect(await project.wrangler(upload, elsewhere)).toMatch(
      /left as it is by this "wrangler versions upload"[\s\S]*Total Upload/,
    );
    const dryRun = { ...elsewhere, npm_lifecycle_event: 'dry-run' };
    expect(await project.wrangler(['deploy', '--dry-run'], dryRun)).toMatch(
      /left as it is[\s\S]*Total Upload/,
    );
    const deploy = project.wrangler(['deploy', '--dry-run'], elsewhere);
    await expect(deploy).rejects.toThrow(/Running custom build `node migrate.mjs` failed/);
  }, 60_000);

  it('make their content the newest, also what was there before, and an earlier one that comes late undoes nothing', async () => {
    const later = Date.now() + 60_000;
    const versions: readonly (readonly [string, number])[] = [
      ['is sorted', Date.now()],
      ['is sorted badly', later],
      ['is sorted', later + 2_000],
      ['is sorted badly', later],
      ['is sorted late', later + 1_000],
    ];
    const counts: number[] = [];
    for (const [text, uploadedAt] of versions) {
      await (await start(text, uploadedAt)).call('GET', '/api/v1/instances');
      counts.push((await published()).length);
    }
    expect(counts).toEqual([1, 2, 3, 3, 3]);
    expect(await published()).toEqual(['is sorted', 'is sorted badly', 'is sorted']);
    expect(worker?.log.join()).toContain('a sequence of a later deployment stays');
  }, 60_000);

  it('publish also when a wake is the first that comes to them', async () => {
    const { waker } = await start('is sorted by a wake', Date.now() + 120_000);
    await waker('wake?ms=1');
    await waitUntil('it is published', async () => (await published())[0] === 'is sorted by a wake');
  });
});

it('the Worker takes tenants of any letters, which its platform decodes', async () => {
  const { call } = await start();
  const header = { 'x-tenant-id': Buffer.from('café').toString('latin1') };
  const head = { id: nextId(), tenant_id: 'café', namespace: 'n', name: 'welcome', version: 1 };
  const blocks = [{ type: 'step', id: 'a', handler: 'noop' }];
  const sequence = { ...head, created_at: '2027-02-11T07:45:00Z', blocks };
  expect((await call('POST', '/api/v1/sequences', sequence, header)).status).toBe(201);
  const { body } = await call('GET', '/api/v1/sequences', undefined, header);
  expect(body.items.map((item: { tenant_id: string }) => item.tenant_id)).toEqual(['café']);
});

describe('event streams of the Worker', () => {
  const ask = { type: 'step', id: 'ask', handler: 'noop', wait_for_input: { prompt: 'Go on?' } };

  it('hold no place for HEAD', async () => {
    const { url, call } = await start();
    const headers = { 'x-tenant-id': 'default' };
    for (let count = 0; count < 40; count += 1) {
      expect((await fetch(`${url}/api/v1/changes/stream`, { method: 'HEAD', headers })).status).toBe(200);
    }
    expect((await call('GET', '/api/v1/instances')).status).toBe(200);
    const controller = new AbortController();
    const { signal } = controller;
    expect((await fetch(`${url}/api/v1/changes/stream`, { headers, signal })).status).toBe(200);
    controller.abort();
  }, 60_000);

  /** Publishes these blocks and starts them; answers the id of the instance, which waits. */
  const waiting = async ({ call }: RunningWorker, ...blocks: readonly object[]): Promise<string> => {
    const id = nextId();
    const named = { tenant_id: 'default', namespace: 'default' };
    const head = { id, ...named, name: `s-${id}`, version: 1, created_at: '2027-02-11T07:45:00Z' };
    await call('POST', '/api/v1/sequences', { ...head, blocks });
    const started = await call('POST', '/api/v1/instances', { ...named, sequence_id: id });
    const path = `/api/v1/instances/${started.body.id}`;
    await waitUntil('it waits', async () => (await call('GET', path)).body.state === 'waiting');
    return path;
  };
  const follow = async ({ url }: RunningWorker, path: string, headers: Record<string, string> = {}) => {
    const ending = new AbortController();
    const response = await fetch(`${url}${path}/stream?poll_ms=100`, {
      headers: { 'x-tenant-id': 'default', ...headers },
      signal: ending.signal,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    /** What has come when the text is there, or when the stream has ended. */
    const until = async (text: string): Promise<string> => {
      let all = '';
      while (!all.includes(text)) {
        const next = await reader?.read();
        if (next === undefined || next.done) break;
        all += next.value;
      }
      return all;
    };
    return { status: response.status, until, hangUp: () => ending.abort() };
  };

  it('tell what happens while it happens, and go on where a reader has stopped [http-api.md 5.6]', async () => {
    const running = await start();
    const path = await waiting(running, { type: 'step', id: 'first', handler: 'noop' }, ask);
    const early = await follow(running, path);
    const [, place = ''] = /id: (\S+)\nevent: output/.exec(await early.until('event: output\n')) ?? [];
    const answer = { signal_type: { custom: 'human_input:ask' }, payload: { value: 'yes' } };
    await running.call('POST', `${path}/signals`, answer);
    expect(await early.until('event: done')).toContain('"block_id":"ask"');
    const late = await (await follow(running, path, { 'last-event-id': place })).until('event: done');
    expect(late).toContain('"block_id":"ask"');
    expect(late).not.toContain('"block_id":"first"');
  });

  it('are bounded per isolate', async () => {
    const running = await start();
    const path = await waiting(running, ask);
    const open = await Promise.all(Array.from({ length: 33 }, () => follow(running, path)));
    const statuses = open.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array(32).fill(200), 503]);
    for (const { hangUp } of open) hangUp();
  });
});
