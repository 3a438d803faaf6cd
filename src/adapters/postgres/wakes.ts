import type { WakeStore, WokenWaiters } from '../../ports/store/wakes.ts';
import { call, isUuid } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const WAKE_INSTANCE = 'SELECT stepwell.wake_instance_v1($1, $2, $3, $4::jsonb)';
const WAKE_LIMIT_WAITERS = 'SELECT stepwell.wake_limit_waiters_v1($1, $2, $3, $4)';

export function createWakeStore(driver: SqlDriver): WakeStore {
  return {
    async wakeInstance({ tenantId, instanceId, factId, wake }) {
      if (!isUuid(instanceId)) return 'not_found';
      return answerOf(
        await call(driver, WAKE_INSTANCE, [tenantId, instanceId, factId, JSON.stringify(wake)]),
      );
    },
    async wakeLimitWaiters(tenantId, { reason, name }, limit) {
      return answerOf<WokenWaiters>(await call(driver, WAKE_LIMIT_WAITERS, [tenantId, reason, name, limit]));
    },
  };
}
