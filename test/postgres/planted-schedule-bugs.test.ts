import type { OverlapPolicy, ScheduleRecord } from '../../src/ports/store/schedules.ts';
import { fireOf, newSchedule } from '../store-contract/schedules.ts';
import { newInstance, nextId, sequence } from '../support/turn-builder.ts';
import { start } from './acts.ts';
import { type Bug, describeBugs } from './plant.ts';
import type { Session } from './sessions.ts';

async function schedule({ store }: Session, overlapPolicy: OverlapPolicy = 'allow'): Promise<ScheduleRecord> {
  const published = sequence({ name: nextId() });
  await store.insertSequence(published);
  const { now } = await store.ping();
  const given = newSchedule({ sequenceId: published.id, overlapPolicy, nextFireAt: now });
  await store.insertSchedule(given);
  return present({ store }, given.id);
}

async function present({ store }: Pick<Session, 'store'>, id: string): Promise<ScheduleRecord> {
  const found = await store.getSchedule(null, id);
  if (found === null) throw new Error('the schedule is there');
  return found;
}

const BUGS: readonly Bug[] = [
  {
    rule: 'a fire compares the rev it was decided on [CRON-3]',
    in: 'fire_schedule_v1',
    replace: [["s.rev <> (p ->> 'rev')::bigint OR ", '']],
    async scene(one) {
      const fire = fireOf(await schedule(one));
      await one.store.fireSchedule(fire);
      return (await one.store.fireSchedule(fire)).status === 'stale';
    },
  },
  {
    rule: 'a fire locks its schedule before it compares [CRON-3]',
    in: 'fire_schedule_v1',
    replace: [
      [
        "(t.tenant_id = p ->> 'tenantId') IS TRUE FOR NO KEY UPDATE",
        "(t.tenant_id = p ->> 'tenantId') IS TRUE",
      ],
    ],
    async scene(first, second) {
      const fire = fireOf(await schedule(first, 'skip'));
      await first.begin();
      await first.store.fireSchedule(fire);
      const other =
        fire.instance === null ? null : newInstance({ ...fire.instance, id: nextId(), idempotencyKey: null });
      const pending = second.store.fireSchedule({ ...fire, instance: other });
      await second.untilBlocked();
      await first.commit();
      return (await pending).status === 'stale';
    },
  },
  {
    rule: 'overlap looks at instances of its own tenant [CRON-5]',
    in: 'live_of_schedule',
    replace: [['(i.tenant_id = p_tenant) IS TRUE', 'true']],
    async scene(one) {
      const found = await schedule(one, 'skip');
      await start(one.store, { tenantId: 'other', metadata: { cron_schedule_id: found.id } });
      return (await one.store.fireSchedule(fireOf(found))).status === 'started';
    },
  },
  {
    rule: 'a deletion takes the schedules of its version along [VER-5]',
    in: 'delete_sequence_v1',
    replace: [['DELETE FROM stepwell.schedules c WHERE c.sequence_id = p_sequence;', '']],
    async scene(one) {
      const found = await schedule(one);
      await one.store.deleteSequence(null, found.sequenceId);
      return (await one.store.getSchedule(null, found.id)) === null;
    },
  },
  {
    rule: 'the next wake knows of schedules [CRON-6]',
    in: 'next_wake_v1',
    replace: [['min(s.wake_at)', 'min(s.created_at) FILTER (WHERE false)']],
    async scene(one) {
      await schedule(one);
      return (await one.store.nextWake()).scheduleAt !== null;
    },
  },
];

describeBugs('schedules', BUGS);
