import type { Json, JsonObject } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
import { choiceRow } from '../choice-row.ts';
import type { Draft } from '../draft.ts';
import type { HistoryRow } from '../fold/history-row.ts';
import { type Frame, frameKey } from '../frame.ts';
import { setDataWithin } from '../leaf/merge-data.ts';
import type { NewRow } from '../output-row.ts';
import { reopenFrames } from '../retry-run.ts';
import { type Edit, applyEdit, checkEdit } from './edit.ts';
import { overlay, replaceFrames } from './flight.ts';
import { type Refused, refused } from './refused.ts';
import { type StandsAt, standAt } from './stand-at.ts';
import { type Target, levelOf } from './target.ts';

export interface ResumeRequest {
  readonly blockId: string;
  /** Path of the passes around the block; null for the last ones that were begun. */
  readonly iteration: string | null;
  /** Merged into data key by key ([CTX-4]). */
  readonly data: JsonObject;
  readonly edit: Edit | null;
  /** Facts of the next run, in order. */
  readonly signals: readonly { readonly id: string; readonly signalType: string; readonly payload: Json }[];
  readonly runId: string;
}

export interface Resumed {
  readonly target: Target;
  /** Listed rows that were taken out of the lists. */
  readonly superseded: number;
}

/**
 * [OP-5], [OP-6], for a block anywhere in the tree and in any pass of its loops (DESIGN 8): the run goes on from there
 * under a new run id. What ended before the block stays and is not executed again; what is in flight beside it goes on;
 * what had failed or was cancelled beside it begins again. `needs_items`: what the knowledge misses has to be read first.
 */
export function resumeRun(
  draft: Draft,
  rows: readonly HistoryRow[],
  request: ResumeRequest,
): Result<Resumed, Refused> | 'needs_items' {
  const { blockId, iteration } = request;
  const stand = standAt({
    plan: draft.plan,
    state: draft.state,
    rows,
    stored: [...draft.frames.values()],
    blockId,
    iteration,
    arrived: draft.shape.arrived,
    itemOf: (key, index) => draft.knowledge.item(key, index),
    now: draft.env.now,
    runNo: draft.record.runNo + 1,
  });
  if (stand === 'needs_items' || !stand.ok) return stand;
  const { target } = stand.value;
  const problem = request.edit === null ? null : checkEdit(draft, target, request.edit);
  if (problem !== null) return err(problem);
  begin(draft, stand.value, request);
  draft.instance.removeData('_error');
  if (!setDataWithin(draft, request.data))
    return err(refused('too_large', 'the context would become too large'));
  const failed = request.edit === null ? null : applyEdit(draft, target, request.edit);
  if (failed !== null) return err(failed);
  return ok({ target, superseded: stand.value.dropped.filter(isListed).length });
}

function begin(draft: Draft, stand: StandsAt, request: ResumeRequest): void {
  const { runId: oldRunId, runNo } = draft.record;
  const { block, iteration } = levelOf(stand.target);
  const before = new Map(draft.frames);
  draft.instance.beginRun({ runNo: runNo + 1, runId: request.runId });
  draft.rootEnd = null;
  draft.push('goBack', {
    superseded: stand.dropped.map(({ blockId, rev, ordinal }) => ({ blockId, rev, ordinal })),
    signals: request.signals,
  });
  for (const row of stand.rows) draft.addRow(row);
  const { frames, flight } = overlay(draft, stand);
  replaceFrames(draft, { before, frames, flight, oldRunId });
  const folded = [...frames.values()].filter((frame) => !flight.has(frameKey(frame)));
  reopenFrames(draft, folded, null);
  keepChoices(draft, { before, folded, kept: stand.kept });
  draft.note('resume_from', {
    block_id: block.id,
    iteration,
    run_no: runNo + 1,
    run_id: request.runId,
    previous_run_id: oldRunId,
    superseded: stand.dropped.length,
    ...(request.edit === null ? {} : { edited: request.edit.kind, by: 'person', value: request.edit.value }),
  });
  draft.transition('scheduled', { reason: 'resume_from', block_id: block.id });
}

/**
 * Which route is open stands in a hidden row (RULINGS B2). It is written when the frame is stored for the first time; the
 * row of one that was stored before may have gone with what came after it, or have been the row of its end.
 */
function keepChoices(
  draft: Draft,
  of: {
    readonly before: ReadonlyMap<string, Frame>;
    readonly folded: readonly Frame[];
    readonly kept: readonly HistoryRow[];
  },
): void {
  for (const frame of of.folded) {
    const again = draft.frames.get(frameKey(frame));
    const choice = again === undefined || !of.before.has(frameKey(frame)) ? null : choiceRow(again);
    const isKept = frame.state === 'open' && choice !== null && of.kept.some((row) => isSameRow(row, choice));
    if (choice !== null && !isKept) draft.addRow(choice);
  }
}

function isSameRow(row: HistoryRow, { blockId, iteration, kind, attempt }: Omit<NewRow, 'id'>): boolean {
  return (
    row.kind === kind && row.attempt === attempt && row.blockId === blockId && row.iteration === iteration
  );
}

/** True for a row that the listing of outputs shows ([OUT-4]). */
function isListed({ kind }: HistoryRow): boolean {
  return kind !== 'node' && kind !== 'retry';
}
