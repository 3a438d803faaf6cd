import { describe, expect, it } from 'vitest';
import type { OverlapPolicy, ScheduleRecord } from '../../src/ports/store/schedules.ts';
import { fireOf, newSchedule } from '../store-contract/schedules.ts';
import { auditEntry, newInstance, nextId, sequence, settleAs, turnOf } from '../support/turn-builder.ts';
import { claim, commitOk, signalOf } from './acts.ts';
import { type Session, useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

describe('schedules of several sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  async function add(session: Session, overlapPolicy: OverlapPolicy = 'allow'): Promise<ScheduleRecord> {
    const { store } = session;
    const published = sequence({ name: nextId() });
    await store.insertSequence(published);
    const { now } = await store.ping();
    const schedule = newSchedule({ sequenceId: published.id, nextFireAt: now, overlapPolicy });
    await store.insertSchedule(schedule);
    return read(session, schedule.id);
  }

  async function read(session: Session, id: string): Promise<ScheduleRecord> {
    const found = await session.store.getSchedule(null, id);
    if (found === null) throw new Error('the schedule is there');
    return found;
  }

  async function runsOf(session: Session, id: string): Promise<readonly string[]> {
    const metadata = [['cron_schedule_id', id]] as const;
    const query = { tenantId: null, namespace: null, sequenceId: null, states: [], limit: 100, offset: 0 };
    return (await session.store.listInstances({ ...query, metadata })).map((run) => run.id);
  }

  it('ten sweeps at one instant start one instance for each occurrence [CRON-3] (B53, I28)', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => sessions.open()));
    const first = all[0];
    if (first === undefined) throw new Error('there are ten');
    for (const policy of ['allow', 'skip', 'buffer_one', 'cancel_previous'] as const) {
      const schedule = await add(first, policy);
      const answers = await Promise.all(all.map(({ store }) => store.fireSchedule(fireOf(schedule))));
      expect(answers.filter(({ status }) => status === 'started')).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 'stale')).toHaveLength(9);
      expect(await runsOf(first, schedule.id)).toHaveLength(1);
    }
    expect(await sessions.deadlockCount()).toBe(0);
  });

  it('a second fire waits for the first and finds that it happened; when that was undone it fires [CRON-3]', async () => {
    for (const outcome of ['commit', 'rollback'] as const) {
      const [first, second] = [await sessions.open(), await sessions.open()];
      const schedule = await add(first);
      await first.begin();
      await first.store.fireSchedule(fireOf(schedule));
      const pending = second.store.fireSchedule(fireOf(schedule));
      await second.untilBlocked();
      await first[outcome]();
      expect(await pending).toMatchObject({ status: outcome === 'commit' ? 'stale' : 'started' });
      expect(await runsOf(second, schedule.id)).toHaveLength(1);
    }
  });

  it('a fire and a change of the schedule never both count on the same rev', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const schedule = await add(first);
    await first.begin();
    const off = { rev: 0, enabled: false, nextFireAt: null };
    expect(await first.store.updateSchedule(null, schedule.id, off)).toMatchObject({ enabled: false });
    const pending = second.store.fireSchedule(fireOf(schedule));
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toEqual({ status: 'stale' });
    expect(await runsOf(second, schedule.id)).toEqual([]);
  });

  it('a version that is deleted while its schedule fires is in use, the other way round nothing fires [VER-5]', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const schedule = await add(first);
    await first.begin();
    await first.store.fireSchedule(fireOf(schedule));
    const deletion = second.store.deleteSequence(null, schedule.sequenceId);
    await second.untilBlocked();
    await first.commit();
    expect(await deletion).toBe('in_use');

    const other = await add(first);
    await first.begin();
    expect(await first.store.deleteSequence(null, other.sequenceId)).toBe('deleted');
    const fire = second.store.fireSchedule(fireOf(other));
    await second.untilBlocked();
    await first.commit();
    expect(await fire).toEqual({ status: 'stale' });
    expect(await second.store.getSchedule(null, other.id)).toBeNull();
  });

  it('an instance that is just ending is waited for by cancel_previous, and gets no cancel [CRON-5]', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const schedule = await add(first, 'cancel_previous');
    const fired = await first.store.fireSchedule(fireOf(schedule));
    if (fired.status !== 'started') throw new Error(fired.status);
    const held = await claim(first.store, fired.instanceId);
    await first.begin();
    await commitOk(
      first.store,
      turnOf(held, { audit: [auditEntry('running', 'completed')], settle: settleAs('completed') }),
    );
    const again = second.store.fireSchedule(fireOf(await read(second, schedule.id)));
    await second.untilBlocked();
    await first.commit();
    expect(await again).toMatchObject({ status: 'started', cancelled: [] });
    expect((await second.store.getFrontier(null, fired.instanceId))?.inbox).toEqual([]);
  });

  it('cancels of schedules and signals to the same instances never deadlock (RULINGS A16)', async () => {
    const before = await sessions.deadlockCount();
    const [first, second] = [await sessions.open(), await sessions.open()];
    const schedule = await add(first, 'cancel_previous');
    const metadata = { cron_schedule_id: schedule.id };
    for (let round = 0; round < 20; round += 1) {
      const instances = Array.from({ length: 5 }, () =>
        newInstance({ metadata, sequenceId: schedule.sequenceId }),
      );
      await first.store.start({ instances, onKnownKey: 'first' });
      const signals = instances.map(({ id }) => ({ instanceId: id, signalId: nextId() })).toReversed();
      const present = await read(first, schedule.id);
      const next = { ...present, nextFireAt: (present.nextFireAt ?? 0) + round };
      await Promise.all([
        first.store.fireSchedule(fireOf(next)),
        second.store.signalMany({
          ...{ tenantId: schedule.tenantId, signals, signalType: 'custom:poke', payload: null, details: {} },
        }),
      ]);
      for (const { id } of instances) await second.store.signal(signalOf(id, 'cancel'));
    }
    expect(await sessions.deadlockCount()).toBe(before);
  });
});
