import { beforeEach, describe, expect, it } from 'vitest';
import type { FunctionEngine } from '../../src/engine/function-engine.ts';
import { runHints, runSweep } from '../../src/engine/invocation.ts';
import { createSchedule } from '../../src/engine/schedules.ts';
import type { SweepResult } from '../../src/engine/sweep.ts';
import { type Store, StoreUnavailable } from '../../src/ports/store/store.ts';
import { newInstance, nextId, turnOf } from '../support/turn-builder.ts';
import { parallel, sleepStep, step } from './support/blocks.ts';
import { standardSettings } from './support/engine-process.ts';
import { outage } from './support/fault-plans.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const LIMIT_MS = 60_000;
const URL = 'https://a.example.com/hooks';
const settings = {
  node: { name: 'functions', beatMs: 5_000, silentMs: 120_000, reapEveryMs: 60_000 },
  webhooks: { urls: [URL], secret: null, timeoutMs: 10_000, maxRetries: 3, cancelled: false },
};
const lease = { leaseToken: nextId(), leaseOwner: 'gone', leaseMs: 1_000 };

let world: TestEngine;
let engine: FunctionEngine;
let sent: string[];

beforeEach(() => {
  sent = [];
  world = new TestEngine({
    scripts: { quick: {} },
    settings,
    hints: () => ({ send: (hints) => void sent.push(...hints.map(({ instanceId }) => instanceId)) }),
    webhookClient: {
      send: () => Promise.resolve({ ok: true, status: 200, headers: [], body: new Uint8Array() }),
    },
  });
  const { deps } = world.idle({ settings: { maxTurns: 0 } }).engine;
  const queue = { send: () => undefined, settled: () => Promise.resolve() };
  engine = { deps, queue, settings: { ...standardSettings, leaseOwner: 'function', leaseMs: null } };
});

/** One invocation of the sweep. */
async function sweep(limitMs = LIMIT_MS): Promise<SweepResult> {
  const end = world.time.now + limitMs;
  const { result, problem } = await world.answered(
    runSweep(engine, () => end - world.time.now),
    LIMIT_MS,
  );
  if (problem !== null) throw problem;
  return result;
}

/** What a sweep asks the store, each once. */
async function asked(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = world.calls.calls.length;
  await work();
  return [...new Set(world.calls.calls.slice(before).map(({ operation }) => operation))];
}

const startAt = async (aheadMs: number): Promise<string> =>
  world.start(await world.publish([step('a', 'quick')]), { nextFireAt: world.time.now + aheadMs });

/** Each kind of work, and what sees to it. */
const KINDS: readonly (readonly [string, keyof Store, () => Promise<unknown>])[] = [
  [
    'a silent worker',
    'releaseSilentTasks',
    async () => {
      await world.start(await world.publish([step('a', 'packing')]));
      await sweep();
      expect(await world.poll('packing')).not.toBeNull();
      await world.time.pass(60_000);
    },
  ],
  [
    'a lease that is over',
    'claimExpired',
    async () => {
      const instanceId = await startAt(0);
      await world.store.claimOne({ ...lease, tenantId: TENANT, instanceId, mode: 'hint' });
      await world.time.pass(1_000);
    },
  ],
  [
    'a session that is over',
    'removeExpired',
    async () => {
      const session = { id: nextId(), tenantId: TENANT, sessionKey: 'k', data: null };
      await world.store.insertSession({ ...session, expiresAt: world.time.now + 1 });
      await world.time.pass(1);
    },
  ],
  ['an instance that is due', 'claimDue', () => startAt(0)],
  [
    'a schedule that is due',
    'fireSchedule',
    async () => {
      const sequenceId = await world.publish([step('a', 'quick')]);
      const { useCases } = world.idle();
      const schedule = {
        sequenceId,
        tenantId: TENANT,
        namespace: 'fulfilment',
        timezone: 'UTC',
        metadata: {},
      };
      const every = { cronExpr: '* * * * *', enabled: true, overlapPolicy: 'allow' as const };
      await createSchedule(useCases, { tenantId: null, isAdmin: true }, { ...schedule, ...every });
      await world.time.pass(60_000);
    },
  ],
  ['an instance that falls due before the next sweep', 'listUpcoming', () => startAt(74_000)],
  [
    'a webhook that nobody has sent',
    'claimWebhooks',
    async () => {
      const instanceId = await startAt(0);
      const request = { ...lease, tenantId: TENANT, instanceId, leaseMs: 600_000 };
      const claimed = await world.store.claimOne({ ...request, mode: 'hint' });
      if (claimed.status !== 'claimed') throw new Error(claimed.status);
      const webhooks = [{ id: nextId(), url: URL, eventType: 'instance.completed' as const, payload: {} }];
      await world.store.commit([turnOf(claimed.claim, { webhooks })]);
    },
  ],
];

describe('a sweep', () => {
  it('of an idle database asks one question, with which it shows its handlers and that it lives', async () => {
    await world.start(await world.publish([parallel('p', [sleepStep('nap', 3_600_000)])]), {
      nextFireAt: world.time.now + 3_600_000,
    });
    expect(await asked(() => sweep())).toEqual(['lookForWork']);
    const within = { announcedWithinMs: 90_000, polledWithinMs: 120_000 };
    expect((await world.store.listLiveHandlers(within)).announced).toContain('quick');
    expect(await world.store.listNodes(10)).toMatchObject([{ name: 'functions', status: 'active' }]);
  });

  it.each(KINDS)('sees to %s by %s', async (_, operation, arrange) => {
    await arrange();
    expect(await asked(() => sweep())).toContain(operation);
  });

  it('asks nothing more of what it has done', async () => {
    for (const [, , arrange] of KINDS) await arrange();
    await sweep();
    // What the schedule has started.
    await sweep();
    expect(await asked(() => sweep())).toEqual(['lookForWork', 'listUpcoming']);
  });

  it.each([
    'claimExpired',
    'releaseSilentTasks',
    'removeExpired',
    'claimDue',
    'dueSchedules',
    'listUpcoming',
  ] as const)(
    'whose %s fails gives everything else its turn, and says so in the end [SWEEP-2]',
    async (operation) => {
      world.faults = outage(['lookForWork', operation], { kind: 'fail-before' });
      const calls = await asked(() => expect(sweep()).rejects.toThrow(StoreUnavailable));
      expect(calls).toEqual([
        ...['lookForWork', 'announceHandlers', 'heartbeatNode'],
        ...['claimExpired', 'releaseSilentTasks', 'claimDue', 'dueSchedules', 'removeExpired'],
        ...['listUpcoming', 'claimWebhooks'],
      ]);
    },
  );

  it('that gets no answer to its look does all that there is', async () => {
    for (const [, , arrange] of KINDS) await arrange();
    world.faults = outage(['lookForWork'], { kind: 'fail-before' });
    const calls = await asked(() => sweep());
    for (const [, operation] of KINDS) expect(calls).toContain(operation);
    expect(world.processes[0]?.logged.join()).toContain('could not look for work');
  });

  it('that finds no database begins nothing more when its time is nearly gone', async () => {
    world.faults = { ...outage([], { kind: 'fail-before' }), decide: () => ({ kind: 'fail-before' }) };
    const calls = await asked(() => expect(sweep(4_000)).rejects.toThrow('no time left'));
    expect(calls).toEqual(['lookForWork', 'announceHandlers', 'heartbeatNode']);
  });

  it('goes on with what is due when schedules fail for ever', async () => {
    world.faults = outage(['dueSchedules', 'fireSchedule'], { kind: 'fail-before' });
    for (const [, operation, arrange] of KINDS) if (operation === 'fireSchedule') await arrange();
    const id = await startAt(0);
    await expect(sweep()).rejects.toThrow(StoreUnavailable);
    expect(await world.view(id)).toMatchObject({ state: 'completed' });
  });

  it('begins nothing more when the database goes away after its look, and its time is nearly gone', async () => {
    for (const [, , arrange] of KINDS) await arrange();
    let leftMs = LIMIT_MS;
    world.faults = {
      decide: ({ operation }) => {
        if (operation === 'lookForWork') return null;
        leftMs -= 30_000;
        return { kind: 'fail-before' };
      },
      onCrash: () => undefined,
    };
    const calls = await asked(async () => {
      const { problem } = await world.answered(
        runSweep(engine, () => leftMs),
        LIMIT_MS,
      );
      expect(problem).toBeInstanceOf(StoreUnavailable);
    });
    expect(calls).toEqual(['lookForWork', 'claimExpired', 'releaseSilentTasks']);
  });

  it('leaves to the next one what there is no time for, which is no failure', async () => {
    for (const [, operation, arrange] of KINDS) if (operation === 'listUpcoming') await arrange();
    sent = [];
    world.faults = outage(['lookForWork'], { kind: 'slow-after', forMs: LIMIT_MS - 4_000 });
    await sweep();
    expect(sent).toEqual([]);
    expect(world.processes[0]?.logged.join()).toContain('the next one does');
  });

  it('hints at all that fall due before the next sweep, however many', async () => {
    const sequenceId = await world.publish([step('a', 'quick')]);
    const nextFireAt = world.time.now + 3_600_000;
    const instances = Array.from({ length: 2_001 }, () => newInstance({ sequenceId, nextFireAt }));
    await world.store.start({ instances, onKnownKey: 'first' });
    await world.time.pass(3_590_000);
    await sweep();
    expect(new Set(sent)).toEqual(new Set(instances.map(({ id }) => id)));
    expect(sent).toHaveLength(2_001);
    sent = [];
    world.faults = outage(['listUpcoming'], { kind: 'slow-after', forMs: 2_000 });
    await sweep(6_000);
    expect(sent).toHaveLength(1_000);
  });

  it('tells how long the oldest instance had been due before it claimed any', async () => {
    await startAt(0);
    await world.time.pass(42_000);
    await startAt(0);
    expect(await sweep()).toMatchObject({ claimed: 2, oldestDueMs: 42_000 });
    expect(await sweep()).toMatchObject({ claimed: 0, oldestDueMs: 0 });
    world.faults = outage(['lookForWork'], { kind: 'fail-before' });
    expect(await sweep()).toMatchObject({ oldestDueMs: null });
  });

  it.each(['a sweep', 'a message'] as const)(
    'hints at the run that got the slot of one which %s pauses for want of progress [CONC-3]',
    async (way) => {
      const sequenceId = await world.publish([step('a', 'quick')]);
      const shared = { concurrencyKey: 'crane' };
      const stuck = await world.start(sequenceId, shared);
      for (let claims = 1; claims <= 20; claims += 1) {
        await world.store.claimOne({
          ...lease,
          leaseToken: nextId(),
          tenantId: TENANT,
          instanceId: stuck,
          mode: 'hint',
        });
        await world.time.pass(lease.leaseMs);
      }
      const waiting = await world.start(sequenceId, shared);
      const target = { tenantId: TENANT, instanceId: waiting };
      await world.store.claimOne({ ...lease, leaseToken: nextId(), ...target, mode: 'hint' });
      sent = [];
      const message = { tenantId: TENANT, instanceId: stuck };
      await (way === 'a sweep'
        ? sweep()
        : world.answered(
            runHints(engine, [message], () => LIMIT_MS),
            LIMIT_MS,
          ));
      expect(await world.view(stuck)).toMatchObject({ state: 'paused' });
      expect(sent).toEqual([waiting]);
    },
  );

  it('claims nothing in a deployment that drains, from its look on', async () => {
    await sweep();
    const [node] = await world.store.listNodes(1);
    await world.store.drainNode(node?.id ?? '');
    const id = await startAt(0);
    expect(await sweep()).toMatchObject({ claimed: 0 });
    expect(await world.view(id)).toMatchObject({ state: 'scheduled' });
  });
});
