import type { JsonObject } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
import type { SupersedeRows } from '../changes.ts';
import type { Draft } from '../draft.ts';
import type { HistoryRow } from '../fold/history-row.ts';
import type { Frame } from '../frame.ts';
import { setDataWithin } from '../leaf/merge-data.ts';
import type { NewRow } from '../output-row.ts';
import { reopenFrames } from '../retry-run.ts';
import type { InstanceState } from '../states.ts';
import { isWithin } from '../supersede-pending.ts';
import { type Edit, applyEdit, checkEdit } from './edit.ts';
import { type Refused, refused } from './refused.ts';
import { standAt } from './stand-at.ts';
import type { Target } from './target.ts';

/** The run that is forked, as it was at one instant. */
export interface ForkSource {
  readonly state: InstanceState;
  readonly rows: readonly HistoryRow[];
  readonly frames: readonly Frame[];
}

export interface ForkAt {
  readonly blockId: string;
  readonly iteration: string | null;
  readonly data: JsonObject;
  readonly edit: Edit | null;
}

export interface Forked {
  readonly target: Target;
  /** Rows of the source that the fork gets, oldest first. */
  readonly copied: readonly HistoryRow[];
  /** Rows that it gets besides. */
  readonly rows: readonly NewRow[];
  readonly frames: readonly Frame[];
}

/**
 * [OP-7], [OP-8], for a block anywhere in the tree and in any pass (DESIGN 8). `draft` is the new instance with the data of
 * the source, and nothing else of it. What was in flight in the source begins again in the fork: a worker has its task
 * there, and a person was asked there.
 */
export function forkRun(
  draft: Draft,
  source: ForkSource,
  at: ForkAt,
): Result<Forked, Refused> | 'needs_items' {
  const stand = standAt({
    plan: draft.plan,
    state: source.state,
    rows: source.rows,
    stored: source.frames,
    blockId: at.blockId,
    iteration: at.iteration,
    arrived: draft.shape.arrived,
    itemOf: (key, index) => draft.knowledge.item(key, index),
    now: draft.env.now,
    runNo: draft.record.runNo,
  });
  if (stand === 'needs_items' || !stand.ok) return stand;
  const { target, kept, frames } = stand.value;
  const problem = at.edit === null ? null : checkEdit(draft, target, at.edit);
  if (problem !== null) return err(problem);
  for (const row of stand.value.rows) draft.addRow(row);
  for (const frame of frames.values()) draft.put(frame);
  reopenFrames(draft, [...frames.values()], null);
  draft.instance.removeData('_error');
  if (!setDataWithin(draft, at.data)) return err(refused('too_large', 'the context would become too large'));
  const failed = at.edit === null ? null : applyEdit(draft, target, at.edit);
  if (failed !== null) return err(failed);
  const changes = draft.takeChanges();
  return ok({
    target,
    copied: kept.filter((row) => !changes.supersede.some((rule) => takesOut(rule, row))),
    rows: changes.rows,
    frames: changes.frames.map(({ frame }) => frame),
  });
}

/** What would be taken out of the lists is not copied in the first place. */
function takesOut(rule: SupersedeRows, row: HistoryRow): boolean {
  const isNamed = rule.blockIds.includes(row.blockId) && rule.kinds.includes(row.kind);
  return isNamed && isWithin(row.iteration, rule.iteration);
}
