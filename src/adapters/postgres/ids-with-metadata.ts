import { call } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const IDS_WITH_METADATA = 'SELECT stepwell.instances_with_metadata_v1($1, $2::jsonb, $3)';

/** Instances with the same metadata up to this many are looked up and sorted; more are met soon enough on a walk. */
const LOOKED_UP_MAX = 2_000;

/**
 * The instances of a tenant (null: of all) whose metadata contains an object, in no order; null when there are too many to look
 * up.
 */
export async function idsWithMetadata(
  driver: SqlDriver,
  tenantId: string | null,
  metadata: string,
): Promise<readonly string[] | null> {
  return answerOf(await call(driver, IDS_WITH_METADATA, [tenantId, metadata, LOOKED_UP_MAX]));
}
