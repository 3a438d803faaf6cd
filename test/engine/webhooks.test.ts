import { describe, expect, it } from 'vitest';
import type { OutboundResult } from '../../src/ports/effects.ts';
import { step } from './support/blocks.ts';
import { faultAt } from './support/fault-plans.ts';
import { type FaultKind, type FaultPlan, noFaults } from './support/fault-store.ts';
import { SINGLE_FAULTS } from './support/single-fault.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const URLS = ['https://a.example.com/hooks', 'https://b.example.com/hooks'];
const accepted: OutboundResult = { ok: true, status: 200, headers: [], body: new Uint8Array() };
const settings = (urls = URLS) => ({
  webhooks: { urls, secret: 's3cret', timeoutMs: 10_000, maxRetries: 3, cancelled: true },
});
const webhook = {
  ...{ id: '', statusCode: 500, errorClass: 'http_status' as const, errorExcerpt: 'no' },
  ...{ durationMs: 1, signed: true },
};

interface Outcome {
  readonly world: TestEngine;
  /** Target and event of each webhook that came, in order. */
  readonly received: readonly string[];
}

/** One run that ends, with one fault; five minutes later everything must have arrived. */
async function runWith(plan: (world: () => TestEngine) => FaultPlan): Promise<Outcome> {
  const received: string[] = [];
  const self: { world?: TestEngine } = {};
  const worldOf = (): TestEngine => {
    if (self.world === undefined) throw new Error('there is no world yet');
    return self.world;
  };
  const world = new TestEngine({
    scripts: { quick: {} },
    settings: settings(),
    webhookClient: {
      send: ({ url, body }) => {
        const { event_type: event } = JSON.parse(String(body)) as { readonly event_type: string };
        received.push(`${url} ${event}`);
        return Promise.resolve(accepted);
      },
    },
    faults: plan(worldOf),
  });
  self.world = world;
  const sequence = await world.publish([step('a', 'quick')]);
  world.boot();
  await world.time.pass(1);
  const id = await world.start(sequence).catch(() => null);
  if (id === null) await world.start(sequence, { on: world.boot() });
  await world.time.pass(300_000);
  return { world, received };
}

const single =
  (at: number, kind: FaultKind) =>
  (world: () => TestEngine): FaultPlan => ({
    decide: (call) => {
      if (call.index !== at) return null;
      if (kind.startsWith('freeze')) replace(world());
      return { kind, forMs: 150_000 };
    },
    onCrash: () => replace(world()),
  });

function replace(world: TestEngine): void {
  world.time.at(world.time.now, () => {
    world.boot();
  });
}

describe('outgoing webhooks in the engine', () => {
  it('arrive once at each target when nothing goes wrong, and leave nothing behind', async () => {
    const { world, received } = await runWith(() => noFaults);
    expect(received.toSorted()).toEqual(URLS.map((url) => `${url} instance.completed`));
    expect(await world.store.listWebhookOutbox(null, 'pending', 10)).toEqual([]);
    expect(await world.store.listWebhookOutbox(null, 'in_flight', 10)).toEqual([]);
  });

  it('arrive at least once whatever call fails, crashes or freezes, and leave nothing behind', async () => {
    const expected = await runWith(() => noFaults);
    const { calls } = expected.world.calls;
    // From the commits of the run on: what comes before is the start.
    const first = calls.findIndex(({ operation }) => operation === 'commit');
    const last = calls.findLastIndex(({ operation }) => operation === 'finishWebhook');
    expect(last).toBeGreaterThan(first);
    for (const kind of SINGLE_FAULTS) {
      for (let at = first; at <= last; at += 1) {
        const { world, received } = await runWith(single(at, kind));
        const where = `${kind} at ${at} (${calls[at]?.operation})`;
        const distinct = [...new Set(received)].toSorted();
        expect([where, ...distinct]).toEqual([where, ...URLS.map((url) => `${url} instance.completed`)]);
        for (const status of ['pending', 'in_flight', 'parked'] as const) {
          const left = await world.store.listWebhookOutbox(null, status, 10);
          expect([where, left]).toEqual([where, []]);
        }
      }
    }
  });

  it('are sent by whoever comes next when the sender dies after the claim', async () => {
    const crash = faultAt('claimWebhooks', 1, { kind: 'crash-after' });
    const { received } = await runWith((world) => ({ ...crash, onCrash: () => replace(world()) }));
    expect(received).toHaveLength(2);
  });

  it('of children, hooks and retries are those of their instances, one for each end', async () => {
    const received: unknown[] = [];
    const world = new TestEngine({
      scripts: { once: { outcome: (_, nth) => (nth === 0 ? refused : { ok: true, output: 1 }) } },
      settings: settings(URLS.slice(0, 1)),
      webhookClient: {
        send: ({ body }) => {
          received.push(JSON.parse(String(body)));
          return Promise.resolve(accepted);
        },
      },
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'once')]));
    await world.untilState(id, 'failed');
    await world.time.pass(1000);
    await world.answered(world.operate(id, { kind: 'retry' }));
    await world.untilState(id, 'completed');
    await world.time.pass(1000);
    expect(received).toMatchObject([
      { event_type: 'instance.failed', instance_id: id, data: { tenant_id: TENANT, state: 'failed' } },
      { event_type: 'instance.completed', instance_id: id, data: { state: 'completed' } },
    ]);
  });

  it('that wait for a retry are sent after a restart, on time or with the first sweep', async () => {
    let calls = 0;
    const world = new TestEngine({
      scripts: { quick: {} },
      settings: settings(URLS.slice(0, 1)),
      webhookClient: {
        send: () => {
          calls += 1;
          return Promise.resolve(calls === 1 ? { ...accepted, status: 500 } : accepted);
        },
      },
    });
    const process = world.boot();
    await world.start(await world.publish([step('a', 'quick')]));
    await world.time.until(() => calls === 1, 10_000);
    await world.time.calm();
    process.crash();
    await world.time.pass(60_000);
    expect(calls).toBe(1);
    world.boot();
    await world.time.pass(1000);
    expect(calls).toBe(2);
    expect(await world.store.finishWebhook({ ...webhook, claimToken: '' })).toBe(false);
  });
});

const refused = { ok: false as const, failure: { message: 'no', retryable: false, code: 'REFUSED' } };
