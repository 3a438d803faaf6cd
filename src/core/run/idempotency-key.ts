import type { Leaf } from './frame.ts';
import type { InstanceRecord } from './record.ts';

/**
 * [IDEM-1]: the same for all attempts and redeliveries of one leaf in one pass; new with each run of the instance, but
 * for a leaf whose outcome was unknown when the run was retried (RULINGS B1).
 */
export function idempotencyKey(
  record: Pick<InstanceRecord, 'id' | 'runId'>,
  leaf: Pick<Leaf, 'keyRunId'>,
  blockId: string,
  iteration: string,
): string {
  return `${record.id}:${leaf.keyRunId ?? record.runId}:${blockId}:${iteration === '' ? '-' : iteration}`;
}
