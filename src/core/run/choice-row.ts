import type { Frame } from './frame.ts';
import type { NewRow } from './output-row.ts';

/** The attempt of a hidden row that is written when a block is entered; the one of its end has attempt 0. */
const AT_ENTRY = -1;

/**
 * The route that was chosen cannot be found out again, so it is recorded with the first row of the frame in the store
 * ([ROUTE-2], RULINGS B2). null for other frames: what they decide follows from rows that are there anyway.
 */
export function choiceRow(frame: Frame): Omit<NewRow, 'id'> | null {
  const { blockId, iteration, startedAt, detail, state } = frame;
  if (detail.kind !== 'router' || state !== 'open') return null;
  const output = { decision: { route: detail.route } };
  return { blockId, iteration, kind: 'node', attempt: AT_ENTRY, output, startedAt };
}
