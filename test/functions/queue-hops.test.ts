import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DefinedHandler, defineHandler } from '../../src/sdk/handler.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { createDatabase, deploy, type Deployment, type DeploymentOptions } from './support/deployment.ts';

let sqs: SqsServer;
let neon: NeonLocal;
let databaseUrl: string;
let deployed: Deployment | null = null;

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  databaseUrl = await createDatabase();
});
afterEach(async () => {
  await deployed?.close();
  deployed = null;
});
afterAll(async () => {
  await neon.close();
  await sqs.stop();
});

async function deployHere(options: DeploymentOptions = {}): Promise<Deployment> {
  deployed = await deploy(sqs, { databaseUrl, ...options });
  return deployed;
}

/** A handler with an outside effect, as far as the engine knows, and who called it. */
function recording(onCall: (block: string) => void = () => undefined): {
  readonly handler: DefinedHandler;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const handler = defineHandler('book', {}, (_input, { blockId }) => {
    calls.push(blockId);
    onCall(blockId);
    return { booked: blockId };
  });
  return { handler, calls };
}

const book = (id: string, extra: object = {}) => ({ type: 'step', id, handler: 'book', ...extra });
const BLOCKS = ['flight', 'hotel', 'car', 'mail'].map((id) => book(id));

describe('a sequence over a queue', () => {
  it('takes one invocation per step when that is the limit', async () => {
    const { handler, calls } = recording();
    const app = await deployHere({
      handlers: [handler],
      environment: { STEPWELL_MAX_STEPS_PER_INVOCATION: '1' },
    });
    const id = await app.start(BLOCKS);
    expect(await app.turns.drain()).toBe(4);
    expect(calls).toEqual(['flight', 'hotel', 'car', 'mail']);
    expect(await app.state(id)).toBe('completed');
  });

  it('takes one invocation for all steps when there is time for them', async () => {
    const { handler, calls } = recording();
    const app = await deployHere({ handlers: [handler] });
    const id = await app.start(BLOCKS);
    expect(await app.turns.drain()).toBe(1);
    expect(calls).toHaveLength(4);
    expect(await app.state(id)).toBe('completed');
  });

  it('goes on in the next invocation when the time of the first is up', async () => {
    let remaining = 60_000;
    const { handler, calls } = recording((block) => {
      if (block === 'hotel') remaining = 4_000;
    });
    const app = await deployHere({ handlers: [handler], remainingMs: () => remaining });
    const id = await app.start(BLOCKS);
    expect(await app.turns.poll()).toBe(1);
    expect(calls).toEqual(['flight', 'hotel']);
    expect(await app.state(id)).toBe('scheduled');
    remaining = 60_000;
    expect(await app.turns.drain()).toBe(1);
    expect(calls).toEqual(['flight', 'hotel', 'car', 'mail']);
    expect(await app.state(id)).toBe('completed');
  });

  it('brings children and their parent back', async () => {
    const { handler, calls } = recording();
    const app = await deployHere({ handlers: [handler] });
    await app.publish({ name: 'trip', blocks: [book('train')] });
    const child = { type: 'sub_sequence', id: 'trip', sequence_name: 'trip' };
    const id = await app.start([child, book('mail')]);
    await app.turns.drain();
    expect(calls).toEqual(['train', 'mail']);
    expect(await app.state(id)).toBe('completed');
  });

  it('sends the wait of a step as a delay, rounded up to seconds', async () => {
    const { handler } = recording();
    const app = await deployHere({ handlers: [handler] });
    await app.start([book('flight', { delay: { duration: 90_500 } })]);
    await app.turns.drain();
    const [message] = app.queue.look().delayed;
    expect(message?.delayMs).toBeGreaterThan(89_000);
    expect(message?.delayMs).toBeLessThanOrEqual(91_000);
    expect((message?.delayMs ?? 1) % 1000).toBe(0);
  });

  it('leaves a wait of more than fifteen minutes to the sweep', async () => {
    const { handler } = recording();
    const app = await deployHere({ handlers: [handler] });
    const id = await app.start([book('flight', { delay: { duration: 16 * 60_000 } })]);
    await app.turns.drain();
    expect(app.queue.look()).toEqual({ ready: [], delayed: [], inFlight: [] });
    expect(await app.state(id)).toBe('scheduled');
  });

  it('runs on a plain PostgreSQL server as well', async () => {
    const { handler, calls } = recording();
    const app = await deployHere({ handlers: [handler], environment: { STEPWELL_DATABASE_DRIVER: 'pg' } });
    const requests = neon.requestCount();
    const id = await app.start(BLOCKS);
    await app.turns.drain();
    expect(calls).toHaveLength(4);
    expect(await app.state(id)).toBe('completed');
    expect(neon.requestCount()).toBe(requests);
  });
});
