import { neonConfig } from '@neondatabase/serverless';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { nextId } from '../support/turn-builder.ts';
import {
  type AwsProject,
  bundleProject,
  type Installation,
  install,
  requestEvent,
} from './support/installation.ts';
import { POISON_HANDLERS } from './support/poison-handlers.ts';
import { type Scheduler, startScheduler } from './support/scheduler.ts';

const Answer = z.object({ statusCode: z.number(), body: z.string() });
const Started = z.object({ id: z.string() });

let sqs: SqsServer;
let neon: NeonLocal;
let scheduler: Scheduler;
let project: AwsProject;
let app: Installation;
let database: pg.Client;

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  scheduler = await startScheduler();
  project = await bundleProject({ source: POISON_HANDLERS });
  const { url } = await createTestDatabase();
  database = new pg.Client({ connectionString: url });
  await database.connect();
  const environment = {
    AWS_ENDPOINT_URL_SQS: process.env['AWS_ENDPOINT_URL_SQS'] ?? '',
    AWS_ENDPOINT_URL_SCHEDULER: scheduler.endpoint,
    TEST_NEON_ENDPOINT: String(neonConfig.fetchEndpoint),
    DESK_URL: 'http://127.0.0.1:1',
  };
  app = await install({ project, sqs, databaseUrl: url, environment });
  await app.functions.Deploy.invoke({ action: 'migrate' });
}, 300_000);

afterAll(async () => {
  await app.close();
  await database.end();
  project.remove();
  scheduler.close();
  await neon.close();
  await sqs.stop();
});

async function post(
  path: string,
  body: Readonly<Record<string, unknown>> & { readonly tenant_id: string },
): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-tenant-id': body.tenant_id };
  const event = requestEvent('POST', `/api/v1${path}`, headers, JSON.stringify(body));
  return Started.parse(JSON.parse(Answer.parse(await app.functions.Api.invoke(event)).body)).id;
}

async function startMany(tenant: string, handler: string, count: number): Promise<void> {
  const id = nextId();
  const blocks = [{ type: 'step', id: 'a', handler }];
  const created = '2027-02-11T07:45:00Z';
  const own = { tenant_id: tenant, namespace: 'n' };
  await post('/sequences', { id, ...own, name: `s-${handler}`, version: 1, created_at: created, blocks });
  const start = { sequence_id: id, ...own };
  for (let index = 0; index < count; index += 1) await post('/instances', start);
}

async function states(tenant: string): Promise<readonly string[]> {
  const { rows } = await database.query(
    'SELECT DISTINCT state FROM stepwell.task_instances WHERE tenant_id = $1',
    [tenant],
  );
  return z
    .array(z.object({ state: z.string() }))
    .parse(rows)
    .map(({ state }) => state);
}

describe('functions that a run of another tenant ends', () => {
  it('complete all good runs, and give the poisonous ones up', async () => {
    await startMany('victim', 'good', 15);
    await startMany('attacker', 'poison', 2);
    await startMany('victim-2', 'good', 3);
    const source = app.sourceOf('turns');
    const expire = () =>
      database.query(
        "UPDATE stepwell.task_instances SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL",
      );
    for (let round = 0; round < 14; round += 1) {
      await Promise.allSettled([source.poll(), source.poll()]);
      await expire();
      await app.functions.Sweep.invoke({}).catch(() => null);
      await expire();
      const all = [...(await states('victim')), ...(await states('victim-2')), ...(await states('attacker'))];
      if (all.every((state) => state === 'completed' || state === 'failed')) break;
    }
    expect(await states('victim')).toEqual(['completed']);
    expect(await states('victim-2')).toEqual(['completed']);
    expect(await states('attacker')).toEqual(['failed']);
  }, 280_000);
});
