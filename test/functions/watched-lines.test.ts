import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSweepHandler } from '../../functions/aws/sweep.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { createDatabase, deploy, type Deployment } from './support/deployment.ts';
import { lambdaContext } from './support/lambda-events.ts';

const HOUR_MS = 3_600_000;
const NOOP = { type: 'step', id: 'a', handler: 'noop' };

let sqs: SqsServer;
let neon: NeonLocal;
let app: Deployment;

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
});
afterEach(() => app.close());
afterAll(async () => {
  await neon.close();
  await sqs.stop();
});

/** A deployment whose log is as quiet as it can be told to be. */
async function deployQuietly(): Promise<string> {
  const databaseUrl = await createDatabase();
  app = await deploy(sqs, { databaseUrl, environment: { STEPWELL_LOG_LEVEL: 'error' } });
  return databaseUrl;
}

function fieldsOf(field: string): readonly unknown[] {
  const lines = app.logged.map((line): Record<string, unknown> => JSON.parse(line));
  return lines.flatMap((line) => (Object.hasOwn(line, field) ? [line[field]] : []));
}

describe('what alarms read is written whatever the log level is', () => {
  it('how late the oldest run was, before the sweep has claimed it', async () => {
    const databaseUrl = await deployQuietly();
    const id = await app.start([NOOP]);
    await app.queue.lose();
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(
      "UPDATE stepwell.task_instances SET due_at = now() - interval '1 hour' WHERE due_at IS NOT NULL",
    );
    await client.end();
    await app.sweep();
    await app.sweep();
    expect(await app.state(id)).toBe('completed');
    const [first, second] = fieldsOf('oldest_due_ms');
    expect(first).toBeGreaterThanOrEqual(HOUR_MS);
    expect(second).toBe(0);
  });

  it('how late the oldest run was, also when a part of the sweep fails', async () => {
    await deployQuietly();
    await app.start([NOOP]);
    await app.queue.lose();
    const { engine } = app.parts;
    const store = Object.create(engine.deps.store, {
      claimDue: { value: () => Promise.reject(new Error('claimDue is broken')) },
    });
    const broken = { ...engine, deps: { ...engine.deps, store } };
    const sweep = createSweepHandler(() => Promise.resolve({ ...app.parts, engine: broken }));
    await expect(sweep({}, lambdaContext())).rejects.toThrow('claimDue is broken');
    expect(fieldsOf('oldest_due_ms')).toHaveLength(1);
    expect(fieldsOf('claimed')).toEqual([0]);
  });

  it('which messages were received before, from the third receive on', async () => {
    await deployQuietly();
    await app.queue.send('{"no":"hint"}');
    await app.start([NOOP]);
    await app.turns.drain();
    expect(fieldsOf('receive_count')).toEqual([3, 4, 5]);
  });
});
