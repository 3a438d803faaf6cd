import { describe, expect, it } from 'vitest';
import { createCloudflareWorker } from '../../../functions/cloudflare/index.ts';
import { publishOnce } from '../../../functions/cloudflare/publish.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { DraftOutcome } from '../../../src/engine/publish-drafts.ts';
import { nextId } from '../../support/turn-builder.ts';
import { standardSettings } from '../../engine/support/engine-process.ts';
import { outage } from '../../engine/support/fault-plans.ts';
import { TENANT, TestEngine } from '../../engine/support/test-engine.ts';

const INVOCATION_MS = 60_000;
const draft = (name: string): JsonObject => ({ name, blocks: [{ type: 'step', id: 'a', handler: 'noop' }] });

/** One isolate in virtual time; `event` lets an event publish and answers how long that took. */
function isolate(...names: readonly string[]) {
  const world = new TestEngine();
  const process = world.idle();
  const publishing = {
    tenantId: TENANT,
    drafts: names.map(draft),
    deployedAt: world.time.now,
    outcomes: new Map<JsonObject, DraftOutcome['outcome']>(),
    isDone: false,
  };
  const engine = {
    deps: process.engine.deps,
    queue: { send: () => undefined, settled: () => Promise.resolve() },
    settings: { ...standardSettings, leaseOwner: 'function', leaseMs: null },
  };
  const event = async (limitMs = INVOCATION_MS): Promise<number> => {
    const begunAt = world.time.now;
    const remainingTimeMs = () => begunAt + limitMs - world.time.now;
    await world.answered(publishOnce({ publishing, engine, remainingTimeMs }, null), 600_000);
    return world.time.now - begunAt;
  };
  const said = (text: string) => process.logged.filter((line) => line.includes(text));
  return { world, publishing, event, said };
}

describe('the sequences of a deployment', () => {
  it('keep an event for seconds and no longer when the database does not answer', async () => {
    const { world, publishing, event, said } = isolate('greet', 'part');
    world.faults = outage(['findSequence'], { kind: 'slow-before', forMs: 150_000 });
    expect(await event()).toBeLessThanOrEqual(5_100);
    expect(await event(12_000)).toBeLessThanOrEqual(6_100);
    expect(await event(10_000)).toBeLessThanOrEqual(5_000);
    expect(publishing.isDone).toBe(false);
    world.faults = outage([], { kind: 'fail-before' });
    await event();
    expect(publishing.isDone).toBe(true);
    expect(said('could not be published yet')).toHaveLength(3);
  });

  it('leave an event half of its time, however many there are', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `greet-${index}`);
    const { world, publishing, event, said } = isolate(...names);
    world.faults = outage(['findSequence'], { kind: 'slow-before', forMs: 4_000 });
    expect(await event()).toBeLessThanOrEqual(INVOCATION_MS / 2 + 100);
    expect(publishing.outcomes.size).toBeGreaterThanOrEqual(7);
    while (!publishing.isDone) await event();
    expect(publishing.outcomes.size).toBe(20);
    expect(said('a sequence was published')).toHaveLength(20);
  });

  it('are told each once, also when a try has published half of them', async () => {
    const { world, event, said } = isolate('greet', 'part');
    let calls = 0;
    world.faults = {
      decide: ({ operation }) => {
        if (operation !== 'publishDeployed') return null;
        calls += 1;
        return calls > 1 && calls < 7 ? { kind: 'fail-before' } : null;
      },
      onCrash: () => undefined,
    };
    await event();
    expect(said('a sequence was published')).toHaveLength(1);
    await event();
    expect(said('a sequence was published')).toHaveLength(2);
    await event();
    expect(calls).toBe(7);
  });
});

describe('a request to the Worker', () => {
  it('that may write publishes before its wake is kept, which then has all its time', async () => {
    const asked: string[] = [];
    const fetch = (url: string) => {
      asked.push(new URL(url).pathname);
      return Promise.resolve(new Response('no'));
    };
    const { worker } = createCloudflareWorker({ tenant: TENANT, sequences: { greet: draft('greet') } });
    const env = {
      STEPWELL_DATABASE_URL: 'postgres://nobody@localhost/none',
      STEPWELL_INSECURE: '1',
      STEPWELL_LOG_LEVEL: 'error',
      STEPWELL_VERSION: { id: 'v1', timestamp: '2026-11-30T09:00:00.000Z' },
      STEPWELL_TURNS: { sendBatch: () => Promise.resolve() },
      STEPWELL_WAKER: { idFromName: () => ({}), get: () => ({ fetch }) },
    };
    const request = new Request(`https://workflows.example.com/api/v1/instances/${nextId()}/signals`, {
      method: 'POST',
      headers: { 'x-tenant-id': TENANT, 'content-type': 'application/json' },
      body: JSON.stringify({ signal_type: 'pause' }),
    });
    const work: Promise<unknown>[] = [];
    await worker.fetch(request, env, { waitUntil: (promise) => work.push(promise) });
    await Promise.all(work);
    expect(asked).toEqual(['/is-published', '/guard']);
  });
});
