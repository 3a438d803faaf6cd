import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { TENANT } from '../api/support/api-fixture.ts';
import type { WriteWorld } from '../api/support/write-requests.ts';
import { type ServerProcess, startServer } from '../support/cli-process.ts';
import { NAUGHTY_TEXTS } from '../support/naughty-values.ts';
import { waitUntil } from '../support/wait-until.ts';
import { throughRecords, throughRuns } from './round-trips.ts';
import {
  brokenBodies,
  refusedBodies,
  strangeBodies,
  strangeMembers,
  strangePaths,
  strangeQueries,
  type Target,
  targetsOf,
} from './shapes.ts';
import { createTorturer, type Heard, type Torturer } from './torturer.ts';

// A real process on a busy machine takes its time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const LIST = '/api/v1/instances';

let folder: string;
let server: ServerProcess;
let torturer: Torturer;
let targets: readonly Target[];
let memoryBefore = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepwell-torture-'));
  const collect = new URL('collect-on-signal.mjs', import.meta.url);
  const env = {
    STEPWELL_INSECURE: '1',
    STEPWELL_REQUIRE_TENANT_HEADER: 'false',
    STEPWELL_ALLOW_INTERNAL_URLS: '1',
    NODE_OPTIONS: `--import=${collect.href}`,
  };
  server = await startServer(['dev', '--tick-ms', '50', '--cron-tick-secs', '1'], { cwd: folder, env });
  torturer = createTorturer(server, TENANT);
  targets = await targetsOf(worldOf(torturer));
  memoryBefore = await torturer.settledMemoryMb();
});

afterAll(async () => {
  await server.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('a server under torture', () => {
  it('answers 400 to what is no JSON, on every route', async () => {
    await torturer.all(targets.flatMap(brokenBodies), ({ status }, { raw, path }) => {
      if (raw === '' || path.startsWith('/webhooks/')) return null;
      return status === 400 ? null : 'must be 400';
    });
    expect(torturer.takeComplaints()).toEqual([]);
  });

  it('answers 422 to numbers, texts and depths that it cannot keep, in any place of any body', async () => {
    await torturer.all(targets.flatMap(refusedBodies), ({ status }, { path }) =>
      status === 422 || path.startsWith('/webhooks/') ? null : 'must be 422',
    );
    expect(torturer.takeComplaints()).toEqual([]);
  });

  it('takes or refuses every strange value in any place of any body', async () => {
    await torturer.all(targets.flatMap(strangeBodies), () => null);
    await torturer.all(
      targets.flatMap((target) => strangeMembers(target)),
      () => null,
    );
    expect(torturer.takeComplaints()).toEqual([]);
  });

  it('takes or refuses every strange id, name and parameter of any path', async () => {
    await torturer.all(ROUTES.flatMap(strangePaths), () => null);
    await torturer.all(ROUTES.flatMap(strangeQueries), () => null);
    expect(torturer.takeComplaints()).toEqual([]);
  });

  it('gives every strange text back exactly, from every place that takes it, also through runs', async () => {
    const queue = NAUGHTY_TEXTS.values();
    const lane = async (): Promise<void> => {
      for (const [, text] of queue) {
        const journey = { text, torturer, tenant: 'round-trips' };
        await throughRecords(journey);
        await throughRuns(journey);
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    expect(torturer.takeComplaints()).toEqual([]);
  });

  it('leaves no run stuck', async () => {
    const stuck = await waitUntil('nothing runs and nothing is due', async () => {
      const { body } = await torturer.send({
        method: 'GET',
        path: `${LIST}?state=running,scheduled&limit=1000`,
      });
      const moving = body.items.filter(isMoving);
      return moving.length === 0 && moving;
    });
    expect(stuck).toEqual([]);
  });

  it('has failed nowhere, still works and has not grown by 50 MB', async () => {
    expect(
      server
        .stderr()
        .split('\n')
        .filter((line) => line.includes('"level":"error"')),
    ).toEqual([]);
    expect((await torturer.send({ method: 'GET', path: '/health/ready' })).status).toBe(200);
    expect(torturer.count).toBeGreaterThan(5000);
    expect((await torturer.settledMemoryMb()) - memoryBefore).toBeLessThan(50);
  });
});

function isMoving({
  state,
  next_fire_at: at,
}: {
  readonly state: string;
  readonly next_fire_at: string | null;
}): boolean {
  return state === 'running' || at === null || Date.parse(at) <= Date.now();
}

function worldOf({ send }: Pick<Torturer, 'send'>): WriteWorld {
  let count = 0;
  const call = async (method: string, path: string, body?: unknown): Promise<Heard['body']> => {
    const raw = body === undefined ? {} : { raw: JSON.stringify(body) };
    const heard = await send({ method, path: `/api/v1${path}`, ...raw });
    if (heard.status >= 300) throw new Error(`${method} ${path} answered ${heard.status} ${heard.text}`);
    return heard.body;
  };
  return {
    call,
    until: (id, state) =>
      waitUntil(`${id} is ${state}`, async () => (await call('GET', `/instances/${id}`)).state === state),
    unique: () => String((count += 1)),
    parkedWebhook: null,
  };
}
