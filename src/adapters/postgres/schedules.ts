import type {
  ScheduleFire,
  ScheduleFired,
  ScheduleRecord,
  ScheduleStore,
} from '../../ports/store/schedules.ts';
import { startPayload } from './accept.ts';
import { call, callOr, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const INSERT = 'SELECT stepwell.insert_schedule_v1($1::jsonb)';
const UPDATE = 'SELECT stepwell.update_schedule_v1($1, $2, $3::jsonb)';
const DELETE = 'SELECT stepwell.delete_schedule_v1($1, $2)';
const DUE = 'SELECT stepwell.due_schedules_v1($1)';
const FIRE = 'SELECT stepwell.fire_schedule_v1($1::jsonb)';
const OF_TENANT = '($1::text IS NULL OR s.tenant_id = $1)';
const GET = `SELECT stepwell.schedule_json(s) FROM stepwell.schedules s WHERE ${OF_TENANT} AND s.id = $2`;
const LIST = `
SELECT stepwell.schedule_json(s) FROM stepwell.schedules s WHERE ${OF_TENANT}
ORDER BY s.created_at, s.id LIMIT $2 OFFSET $3`;

/** By which the start inside a fire says that the sequence was deleted. */
const NO_SEQUENCE = 'SW005';

type UpdateAnswer =
  | { readonly status: 'updated'; readonly schedule: ScheduleRecord }
  | { readonly status: 'not_found' | 'stale' };

export function createScheduleStore(driver: SqlDriver): ScheduleStore {
  return {
    async insertSchedule(schedule) {
      if (!isUuid(schedule.sequenceId)) return 'no_sequence';
      return answerOf(await call(driver, INSERT, [JSON.stringify(schedule)]));
    },
    async getSchedule(tenantId, id) {
      if (!isUuid(id)) return null;
      return (
        answerOf<ScheduleRecord | undefined>(await tenantCall(driver, tenantId, GET, [tenantId, id])) ?? null
      );
    },
    async listSchedules({ tenantId, limit, offset }) {
      const rows = await tenantCall(driver, tenantId, LIST, [tenantId, limit, offset]);
      return rows.map((row) => answerOf<ScheduleRecord>([row]));
    },
    async updateSchedule(tenantId, id, update) {
      if (!isUuid(id)) return 'not_found';
      const answer = answerOf<UpdateAnswer>(
        await call(driver, UPDATE, [tenantId, id, JSON.stringify(update)]),
      );
      return answer.status === 'updated' ? answer.schedule : answer.status;
    },
    async deleteSchedule(tenantId, id) {
      return isUuid(id) && answerOf<boolean>(await call(driver, DELETE, [tenantId, id]));
    },
    async dueSchedules(limit) {
      return answerOf(await call(driver, DUE, [limit]));
    },
    fireSchedule: (fire) => fireSchedule(driver, fire),
  };
}

function fireSchedule(driver: SqlDriver, { instance, ...fire }: ScheduleFire): Promise<ScheduleFired> {
  const start =
    instance === null
      ? {}
      : { start: startPayload({ instances: [instance], onKnownKey: 'first', requireSequence: true }) };
  return callOr<ScheduleFired>(
    async () => answerOf(await driver.query(FIRE, [JSON.stringify({ ...fire, ...start })])),
    { [NO_SEQUENCE]: () => ({ status: 'stale' }) },
  );
}
