import { expect, it } from 'vitest';
import type { LiveWithin } from '../../src/ports/store/handler-names.ts';
import type { Said, WorkLook } from '../../src/ports/store/sweeps.ts';
import { nextId, sequence, settleAs, turnOf } from '../support/turn-builder.ts';
import { queue } from './outbox.ts';
import { newSchedule } from './schedules.ts';
import type { MakeStore } from './store-under-test.ts';
import { dueRequest, LEASE_MS, pollRequest, useWorld } from './world.ts';

const WITHIN: LiveWithin = { announcedWithinMs: 90_000, polledWithinMs: 120_000 };
const NOTHING: Omit<WorkLook, 'now'> = {
  ...{ dueAt: null, laterAt: null, leaseUntil: null, scheduleAt: null, taskHeardAt: null, webhookAt: null },
  ...{ hasExpired: false, live: null, drains: null },
};

/** Registers what the look of a sweep must see in every store; what has expired is seen by the tests of what expires. */
export function describeSweeps(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const look = (said: Said = {}): Promise<WorkLook> => world.store.lookForWork(said);
  const after = async (seen: Partial<WorkLook>): Promise<WorkLook> => ({
    ...NOTHING,
    ...{ now: await world.now(), ...seen },
  });

  it('sees nothing in an empty store, and changes nothing', async () => {
    expect(await look()).toEqual(await after({}));
    expect(await world.store.listNodes(10)).toEqual([]);
    expect((await world.store.listLiveHandlers(WITHIN)).announced).toEqual([]);
  });

  it('sees the instance that has been due for longest, and the first that is still to come', async () => {
    const now = await world.now();
    await world.start({ nextFireAt: now + 7_200_000 });
    await world.start({ nextFireAt: now + 3_600_000 });
    expect(await look()).toEqual(await after({ dueAt: now + 3_600_000, laterAt: now + 3_600_000 }));
    await world.start();
    await world.advance(5_000);
    await world.start();
    expect(await look()).toEqual(await after({ dueAt: now, laterAt: now + 3_600_000 }));
    await world.store.claimDue(dueRequest());
    const leaseUntil = now + 5_000 + LEASE_MS;
    expect(await look()).toEqual(
      await after({ dueAt: now + 3_600_000, laterAt: now + 3_600_000, leaseUntil }),
    );
  });

  it('sees no work in an instance that has ended, is paused or waits for a person', async () => {
    for (const state of ['completed', 'paused'] as const) await world.inState(state);
    const claim = await world.claim(await world.start());
    await world.apply(turnOf(claim, { settle: settleAs('waiting', { openWaits: 1 }) }));
    expect(await look()).toEqual(await after({}));
  });

  it('sees the end of the first lease, also when it is over', async () => {
    const claim = await world.claim(await world.start());
    expect(await look()).toEqual(await after({ leaseUntil: claim.leaseUntil }));
    await world.advance(LEASE_MS);
    expect(await look()).toEqual(await after({ leaseUntil: claim.leaseUntil }));
  });

  it('sees when the first schedule has to be looked at, and none that is switched off', async () => {
    const now = await world.now();
    for (const [index, enabled] of [false, true].entries()) {
      const published = sequence({ name: nextId() });
      await world.store.insertSequence(published);
      const nextFireAt = enabled ? now + 60_000 : null;
      const sequenceId = published.id;
      await world.store.insertSchedule(newSchedule({ sequenceId, nextFireAt, enabled }));
      expect(await look()).toEqual(await after({ scheduleAt: index === 0 ? null : now + 60_000 }));
    }
  });

  it('sees the claimed task that has been silent for longest, and none that nobody has taken', async () => {
    await world.waitingForWorker();
    expect(await look()).toEqual(await after({}));
    const taskHeardAt = await world.now();
    await world.store.pollTasks(pollRequest());
    await world.advance(7);
    await world.claimedTask();
    expect(await look()).toEqual(await after({ taskHeardAt }));
  });

  it('sees the first attempt of all targets, and when its sender counts as dead', async () => {
    const sends = { leaseMs: 40_000, perUrl: 8, underWay: {} };
    const leaseUntil = (await world.now()) + LEASE_MS;
    await queue(world, 1, 'https://a.example.com/hooks');
    const queuedAt = await world.now();
    expect(await look()).toEqual(await after({ webhookAt: queuedAt, leaseUntil }));
    await world.store.claimWebhooks({ claimToken: nextId(), ...sends });
    expect((await look()).webhookAt).toBe(queuedAt + 40_000);
    await world.advance(5);
    await queue(world, 1, 'https://b.example.com/hooks');
    expect((await look()).webhookAt).toBe(queuedAt + 5);
  });

  it('says which handlers a process has, and is told all that are alive (RULINGS B8)', async () => {
    const announced = (buildId: string, name: string): Said => ({
      announcement: { buildId, handlers: [{ name, kind: 'effect' }], within: WITHIN },
    });
    await look(announced('b-1', 'charge'));
    const live = { announced: ['charge', 'refund'], polled: [] };
    expect(await look(announced('b-2', 'refund'))).toEqual(await after({ live }));
    expect(await world.store.listLiveHandlers(WITHIN)).toEqual(live);
  });

  it('gives a sign of life, tells a node that it is to drain, and stops silent ones', async () => {
    const [id, silent] = [nextId(), nextId()];
    const beat = { id, name: 'north', silentMs: 120_000 };
    await look({ beat: { id: silent, name: 'silent', silentMs: null } });
    await world.advance(120_000);
    expect(await look({ beat })).toEqual(await after({ drains: false }));
    await world.store.drainNode(id);
    expect((await look({ beat })).drains).toBe(true);
    expect(await world.store.listNodes(10)).toMatchObject([
      { id, status: 'draining', lastHeartbeatAt: await world.now() },
      { id: silent, status: 'stopped' },
    ]);
  });
}
