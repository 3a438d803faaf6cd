import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineHandler } from '../../src/sdk/handler.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { deploy, type Deployment, type DeploymentOptions, TENANT } from './support/deployment.ts';

let sqs: SqsServer;
let neon: NeonLocal;
let app: Deployment;
const calls: string[] = [];
const handler = defineHandler('book', {}, (_input, { instanceId }) => {
  calls.push(instanceId);
  return { booked: true };
});
const FLIGHT = { type: 'step', id: 'flight', handler: 'book' };

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
});
afterEach(async () => {
  calls.length = 0;
  await app.close();
});
afterAll(async () => {
  await neon.close();
  await sqs.stop();
});

/** The sweep finds what is due in the whole database: each test has one of its own. */
async function deployHere(options: DeploymentOptions = {}): Promise<void> {
  app = await deploy(sqs, { handlers: [handler], ...options });
}

describe('the sweep function', () => {
  it('finds the instance of a message that was lost', async () => {
    await deployHere();
    const id = await app.start([FLIGHT]);
    await app.queue.lose();
    expect(await app.turns.drain()).toBe(0);
    await app.sweep();
    expect(await app.state(id)).toBe('completed');
    expect(calls).toEqual([id]);
  });

  it('sends one statement when nothing is due, and none beside its sweeps (B67)', async () => {
    await deployHere({ environment: { STEPWELL_WEBHOOK_URLS: 'https://hooks.example.com/a' } });
    await app.start([{ ...FLIGHT, delay: { duration: 3_600_000 } }]);
    expect(await app.turns.drain()).toBe(1);
    await app.sweep();
    for (let sweeps = 0; sweeps < 3; sweeps += 1) {
      const before = { statements: neon.statementCount(), requests: neon.requestCount() };
      await app.sweep();
      expect(neon.statementCount() - before.statements).toBe(1);
      expect(neon.requestCount() - before.requests).toBe(1);
    }
    expect(app.logged.filter((line) => /"level":"(?:warn|error)"/.test(line))).toEqual([]);
  });

  it('takes over what a killed function held', async () => {
    await deployHere();
    const id = await app.start([FLIGHT]);
    const { store, ids } = app.parts.engine.deps;
    const lease = { leaseToken: ids.newId(), leaseOwner: 'killed', leaseMs: 1 };
    await store.claimOne({ tenantId: TENANT, instanceId: id, ...lease, mode: 'hint' });
    await app.sweep();
    expect(await app.state(id)).toBe('completed');
  });

  it('goes on as long as something is due and half of its time is left', async () => {
    let remaining = 60_000;
    await deployHere({ remainingMs: () => remaining });
    const ids = await startMany(130);
    remaining = 60_000;
    await app.sweep();
    expect(new Set(calls)).toEqual(new Set(ids));
    expect(calls).toHaveLength(130);
  });

  it('claims no more when half of its time is gone', async () => {
    let remaining = 60_000;
    const slow = defineHandler('book', {}, (_input, { instanceId }) => {
      calls.push(instanceId);
      remaining = 29_000;
      return null;
    });
    await deployHere({ handlers: [slow], remainingMs: () => remaining });
    await startMany(130);
    await app.sweep();
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.length).toBeLessThan(130);
  });
});

/** Starts that no message has told of. */
async function startMany(count: number): Promise<readonly string[]> {
  const sequence_id = await app.publish({ blocks: [FLIGHT] });
  const instance = { sequence_id, tenant_id: TENANT, namespace: 'fulfilment' };
  await app.call('POST', '/instances/batch', { instances: Array.from({ length: count }, () => instance) });
  await app.queue.lose();
  const { body } = await app.call('GET', `/instances?limit=${count}`);
  return body.items.map(({ id }: { id: string }) => id);
}
