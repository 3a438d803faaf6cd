import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { check } from '../../functions/aws/check.ts';
import { createSweepHandler } from '../../functions/aws/sweep.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { deploy, type Deployment } from './support/deployment.ts';
import { lambdaContext } from './support/lambda-events.ts';

const NOOP = { type: 'step', id: 'a', handler: 'noop' };
const ECONOMY = {
  STEPWELL_WAKE_GROUP: 'wakes',
  STEPWELL_WAKE_ROLE_ARN: 'arn:aws:iam::000000000000:role/wake',
};

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

/** Economy mode around a waker that refuses so many times. Answers how often it was asked. */
async function deployWithWaker(refusals: number): Promise<() => number> {
  app = await deploy(sqs, { environment: ECONOMY });
  let asked = 0;
  const wake = async (): Promise<void> => {
    asked += 1;
    if (asked <= refusals) throw new Error('not authorized');
  };
  app.parts.wakes.waker = Promise.resolve({ guard: wake, wakeWithin: wake, wakeAgain: wake });
  return () => asked;
}

describe('the check of a deployment', () => {
  it('asks the database and claims nothing', async () => {
    app = await deploy(sqs);
    const id = await app.start([NOOP]);
    await app.queue.lose();
    const before = neon.statementCount();
    await createSweepHandler(() => Promise.resolve(app.parts))({ action: 'check' }, lambdaContext());
    expect(neon.statementCount() - before).toBe(1);
    expect(await app.state(id)).toBe('scheduled');
    await app.sweep();
    expect(await app.state(id)).toBe('completed');
  });

  it('keeps a wake in economy mode, also when the permission for it holds a little later', async () => {
    const asked = await deployWithWaker(2);
    await check(app.parts, lambdaContext(), 0);
    expect(asked()).toBe(3);
  });

  it('fails when no wake can be kept', async () => {
    await deployWithWaker(Number.POSITIVE_INFINITY);
    await expect(check(app.parts, lambdaContext(), 0)).rejects.toThrow('no wake could be kept');
    expect(app.logged.join('')).toContain('not authorized');
  });
});
