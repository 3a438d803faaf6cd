import { expect, it } from 'vitest';
import type {
  NewSchedule,
  ScheduleFire,
  ScheduleFired,
  ScheduleRecord,
} from '../../src/ports/store/schedules.ts';
import {
  TENANT,
  auditEntry,
  newInstance,
  nextId,
  sequence,
  settleAs,
  turnOf,
} from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function newSchedule(overrides: Partial<NewSchedule> = {}): NewSchedule {
  return {
    id: nextId(),
    tenantId: TENANT,
    namespace: 'fulfilment',
    sequenceId: nextId(),
    cronExpr: '0 9 * * *',
    timezone: 'Europe/Lisbon',
    enabled: true,
    metadata: { owner: 'ops' },
    overlapPolicy: 'allow',
    nextFireAt: null,
    ...overrides,
  };
}

/** The fire of the next occurrence, as the engine composes it; the occurrence after it is a minute later. */
export function fireOf(schedule: ScheduleRecord, overrides: Partial<ScheduleFire> = {}): ScheduleFire {
  const occurrenceAt = schedule.nextFireAt ?? 0;
  return {
    tenantId: schedule.tenantId,
    scheduleId: schedule.id,
    sequenceId: schedule.sequenceId,
    rev: schedule.rev,
    occurrenceAt,
    from: 'next',
    nextFireAt: occurrenceAt + 60_000,
    instance: newInstance({
      sequenceId: schedule.sequenceId,
      tenantId: schedule.tenantId,
      metadata: { cron_schedule_id: schedule.id },
      idempotencyKey: `cron:${schedule.id}:${occurrenceAt}`,
    }),
    recheckMs: 5_000,
    ...overrides,
  };
}

export function describeSchedules(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  async function add(overrides: Partial<NewSchedule> = {}): Promise<ScheduleRecord> {
    const published = sequence({ name: nextId() });
    await world.store.insertSequence(published);
    const schedule = newSchedule({ sequenceId: published.id, nextFireAt: await world.now(), ...overrides });
    expect(await world.store.insertSchedule(schedule)).toBe('created');
    return get(schedule.id);
  }

  async function get(id: string): Promise<ScheduleRecord> {
    const found = await world.store.getSchedule(null, id);
    if (found === null) throw new Error('the schedule is there');
    return found;
  }

  /** Fires the present next occurrence of a schedule. */
  async function fire(id: string, overrides: Partial<ScheduleFire> = {}): Promise<ScheduleFired> {
    return world.store.fireSchedule(fireOf(await get(id), overrides));
  }

  async function started(fired: Promise<ScheduleFired>): Promise<string> {
    const answer = await fired;
    if (answer.status !== 'started') throw new Error(`the fire was answered with ${answer.status}`);
    return answer.instanceId;
  }

  async function end(instanceId: string): Promise<void> {
    const claim = await world.operate(instanceId);
    await world.apply(
      turnOf(claim, { audit: [auditEntry('running', 'completed')], settle: settleAs('completed') }),
    );
  }

  it('a schedule is read back as it was given, with its counters [CRON-1]', async () => {
    const given = newSchedule();
    await world.store.insertSequence(sequence({ id: given.sequenceId }));
    const now = await world.now();
    expect(await world.store.insertSchedule({ ...given, nextFireAt: now + 5 })).toBe('created');
    const record = {
      ...{ ...given, nextFireAt: now + 5, skippedFires: 0, lastSkippedAt: null, lastTriggeredAt: null },
      ...{ bufferedAt: null, recheckAt: null, rev: 0, createdAt: now, updatedAt: now },
    };
    expect(await world.store.getSchedule(TENANT, given.id)).toEqual(record);
    expect(await world.store.getSchedule(null, given.id)).toEqual(record);
    expect(await world.store.getSchedule('other', given.id)).toBeNull();
    expect(await world.store.getSchedule(null, nextId())).toBeNull();
  });

  it('a schedule needs a sequence of its tenant', async () => {
    const published = sequence();
    await world.store.insertSequence(published);
    expect(await world.store.insertSchedule(newSchedule())).toBe('no_sequence');
    const theirs = newSchedule({ sequenceId: published.id, tenantId: 'other' });
    expect(await world.store.insertSchedule(theirs)).toBe('no_sequence');
  });

  it('schedules are listed as they were created, page by page', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      ids.push((await add()).id);
      await world.advance(1);
    }
    const list = async (tenantId: string | null, limit: number, offset: number) =>
      (await world.store.listSchedules({ tenantId, limit, offset })).map(({ id }) => id);
    expect(await list(null, 10, 0)).toEqual(ids);
    expect(await list(TENANT, 1, 1)).toEqual([ids[1]]);
    expect(await list('other', 10, 0)).toEqual([]);
  });

  it('an update changes what it names, once for the rev it was decided on', async () => {
    const { id } = await add();
    await world.advance(10);
    const change = { rev: 0, cronExpr: '0 10 * * *', metadata: { a: 1 }, nextFireAt: 7 };
    const expected = { ...(await get(id)), ...change, rev: 1, updatedAt: await world.now() };
    expect(await world.store.updateSchedule('other', id, change)).toBe('not_found');
    expect(await world.store.updateSchedule(TENANT, id, change)).toEqual(expected);
    expect(await world.store.updateSchedule(null, id, change)).toBe('stale');
    expect(await get(id)).toEqual(expected);
    const off = { rev: 1, enabled: false, overlapPolicy: 'skip' as const, nextFireAt: null };
    expect(await world.store.updateSchedule(null, id, off)).toMatchObject({
      ...{ enabled: false, overlapPolicy: 'skip', nextFireAt: null, cronExpr: '0 10 * * *', rev: 2 },
    });
  });

  it('a schedule is deleted by its tenant, and with its version [CRON-6] [VER-5]', async () => {
    const [first, second] = [await add(), await add()];
    expect(await world.store.deleteSchedule('other', first.id)).toBe(false);
    expect(await world.store.deleteSchedule(TENANT, first.id)).toBe(true);
    expect(await world.store.deleteSchedule(null, first.id)).toBe(false);
    expect(await world.store.deleteSequence(null, second.sequenceId)).toBe('deleted');
    expect(await world.store.getSchedule(null, second.id)).toBeNull();
    expect(await world.store.fireSchedule(fireOf(second))).toEqual({ status: 'stale' });
  });

  it('due schedules come longest overdue first, and the next one is known [CRON-6]', async () => {
    const now = await world.now();
    const late = await add({ nextFireAt: now - 1_000 });
    const due = await add({ nextFireAt: now });
    const later = await add({ nextFireAt: now + 5_000 });
    await add({ enabled: false, nextFireAt: null });
    const ids = async (limit: number) =>
      (await world.store.dueSchedules(limit)).schedules.map(({ id }) => id);
    expect(await ids(10)).toEqual([late.id, due.id]);
    expect(await ids(1)).toEqual([late.id]);
    expect((await world.store.nextWake()).scheduleAt).toBe(now - 1_000);
    await world.store.deleteSchedule(null, late.id);
    await world.store.deleteSchedule(null, due.id);
    expect((await world.store.nextWake()).scheduleAt).toBe(now + 5_000);
    await world.advance(5_000);
    expect(await world.store.dueSchedules(10)).toEqual({ now: now + 5_000, schedules: [later] });
    await world.store.deleteSchedule(null, later.id);
    expect((await world.store.nextWake()).scheduleAt).toBeNull();
  });

  it('a fire starts an instance and moves on; with the same rev it happens once [CRON-3]', async () => {
    const schedule = await add();
    const now = await world.now();
    const first = fireOf(schedule);
    const id = await started(world.store.fireSchedule(first));
    expect(await world.view(id)).toMatchObject({
      state: 'scheduled',
      metadata: { cron_schedule_id: schedule.id },
    });
    const moved = { lastTriggeredAt: now, nextFireAt: now + 60_000, rev: 1, skippedFires: 0 };
    expect(await get(schedule.id)).toMatchObject(moved);
    expect(await world.store.fireSchedule(first)).toEqual({ status: 'stale' });
    expect(await get(schedule.id)).toMatchObject(moved);
  });

  it('a second fire of one occurrence finds the first instance by its key [CRON-3] (D15)', async () => {
    const schedule = await add();
    const id = await started(world.store.fireSchedule(fireOf(schedule)));
    const again = { ...fireOf(schedule), rev: 1 };
    expect(await started(world.store.fireSchedule(again))).toBe(id);
    expect(await get(schedule.id)).toMatchObject({ rev: 2 });
  });

  it('a schedule that is switched off, changed or of another tenant does not fire [CRON-6]', async () => {
    const schedule = await add();
    expect(await fire(schedule.id, { tenantId: 'other' })).toEqual({ status: 'stale' });
    await world.store.updateSchedule(null, schedule.id, { rev: 0, enabled: false, nextFireAt: null });
    expect(await world.store.fireSchedule(fireOf(schedule))).toEqual({ status: 'stale' });
    expect(await fire(schedule.id)).toEqual({ status: 'stale' });
  });

  it('what cannot be started lets the schedule move on', async () => {
    const schedule = await add();
    expect(await fire(schedule.id, { instance: null })).toEqual({ status: 'moved_on' });
    expect(await get(schedule.id)).toMatchObject({ lastTriggeredAt: null, rev: 1 });
  });

  it('the policy allow lets instances overlap [CRON-5]', async () => {
    const { id } = await add();
    const first = await started(fire(id));
    expect(await started(fire(id))).not.toBe(first);
  });

  it('the policy skip leaves an occurrence out while an instance has not ended, and counts it [CRON-5]', async () => {
    const { id } = await add({ overlapPolicy: 'skip' });
    const first = await started(fire(id));
    await world.advance(60_000);
    expect(await fire(id)).toEqual({ status: 'skipped' });
    expect(await get(id)).toMatchObject({ skippedFires: 1, lastSkippedAt: await world.now(), rev: 2 });
    await end(first);
    expect(await fire(id)).toMatchObject({ status: 'started' });
    expect(await get(id)).toMatchObject({ skippedFires: 1 });
  });

  it('instances of other schedules and of other tenants do not count for overlap [CRON-5]', async () => {
    const [one, other] = [await add({ overlapPolicy: 'skip' }), await add()];
    await started(fire(other.id));
    const metadata = { cron_schedule_id: one.id };
    await world.start({ tenantId: 'other', metadata });
    expect(await fire(one.id)).toMatchObject({ status: 'started' });
  });

  it('the policy buffer_one holds one occurrence back until the instance has ended [CRON-5] (D13)', async () => {
    const { id } = await add({ overlapPolicy: 'buffer_one' });
    const begun = await world.now();
    const first = await started(fire(id));
    await world.advance(60_000);
    expect(await fire(id)).toEqual({ status: 'buffered' });
    expect(await get(id)).toMatchObject({ bufferedAt: begun + 60_000, recheckAt: begun + 65_000 });
    expect((await world.store.nextWake()).scheduleAt).toBe(begun + 65_000);
    await world.advance(60_000);
    expect(await fire(id)).toEqual({ status: 'skipped' });
    expect(await get(id)).toMatchObject({ bufferedAt: begun + 60_000, skippedFires: 1 });

    const held = async (): Promise<Partial<ScheduleFire>> => {
      const { bufferedAt } = await get(id);
      const key = `cron:${id}:${bufferedAt}`;
      const { instance } = fireOf(await get(id));
      return {
        ...{ from: 'buffer', occurrenceAt: bufferedAt ?? 0, nextFireAt: null },
        instance: instance === null ? null : { ...instance, idempotencyKey: key },
      };
    };
    expect(await fire(id, await held())).toEqual({ status: 'held' });
    expect(await get(id)).toMatchObject({ recheckAt: begun + 125_000, nextFireAt: begun + 180_000 });
    await end(first);
    await started(fire(id, await held()));
    expect(await get(id)).toMatchObject({ bufferedAt: null, recheckAt: null, nextFireAt: begun + 180_000 });
  });

  it('a schedule that is switched off forgets the occurrence it held back [CRON-5]', async () => {
    const { id } = await add({ overlapPolicy: 'buffer_one' });
    await started(fire(id));
    await fire(id);
    const { rev } = await get(id);
    const off = await world.store.updateSchedule(null, id, { rev, enabled: false, nextFireAt: null });
    expect(off).toMatchObject({ bufferedAt: null, recheckAt: null });
    expect((await world.store.nextWake()).scheduleAt).toBeNull();
  });

  it('the policy cancel_previous sends each live instance one cancel and starts at once [CRON-5]', async () => {
    const { id } = await add({ overlapPolicy: 'cancel_previous' });
    const first = await started(fire(id));
    const second = await fire(id);
    expect(second).toMatchObject({ status: 'started', cancelled: [first] });
    const inbox = async (instanceId: string) =>
      (await world.frontier(instanceId)).inbox.map(({ fact }) => fact);
    const cancel = { kind: 'signal', signalType: 'cancel', payload: null };
    expect(await inbox(first)).toEqual([cancel]);
    const third = await fire(id);
    expect(third).toMatchObject({ cancelled: second.status === 'started' ? [second.instanceId] : [] });
    expect(await inbox(first)).toEqual([cancel]);
  });
}
