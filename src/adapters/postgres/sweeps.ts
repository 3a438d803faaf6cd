import type { SweepStore, WorkLook } from '../../ports/store/sweeps.ts';
import { call } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const LOOK = 'SELECT stepwell.look_for_work_v1($1::jsonb)';

export function createSweepStore(driver: SqlDriver): SweepStore {
  return {
    lookForWork: async (said) => answerOf<WorkLook>(await call(driver, LOOK, [JSON.stringify(said)])),
  };
}
