import type { Frame, ListEnd } from './frame.ts';
import { currentListIndex } from './plan.ts';

/** What became of the elements of a list that left no trace: not reached yet, passed over, or cancelled (7.4). */
export type Rest = 'pending' | 'skipped' | 'cancelled';

/** The rest of one list of a composite that is open, or whose frame stayed after it failed or was cancelled. */
export function restOfList(frame: Frame, index: number): Rest {
  const rest = restByDetail(frame, index);
  return rest === 'pending' && frame.state !== 'open' ? restOfEnd(frame.state) : rest;
}

/** [LIST-3], [LIST-4], [LIST-6]; nothing is left over in a list that drained. */
export function restOfEnd(end: ListEnd): Rest {
  return end === 'cancelled' ? 'cancelled' : 'skipped';
}

/** The rest of each list of a composite at its end; null when all are as the end alone says. */
export function restAtEnd(frame: Frame, lists: number, end: ListEnd): readonly Rest[] | null {
  const usual = restOfEnd(end);
  const rests = Array.from({ length: lists }, (_, index): Rest => {
    const rest = restOfList(frame, index);
    return rest === 'pending' ? usual : rest;
  });
  return rests.every((rest) => rest === usual) ? null : rests;
}

function restByDetail(frame: Frame, index: number): Rest {
  const { detail } = frame;
  switch (detail.kind) {
    case 'root':
    case 'branch':
    case 'item':
    case 'cancellation_scope':
      return restOfCurrent(frame);
    case 'loop':
    case 'for_each':
      return detail.inPass ? restOfCurrent(frame) : betweenPasses(frame);
    case 'fan_out':
      return detail.total === 0 ? restOfCurrent(frame) : 'pending';
    case 'router':
    case 'a_b_split':
      return index === currentListIndex(frame) ? restOfCurrent(frame) : 'skipped';
    case 'parallel':
    case 'race': {
      const end = detail.ends[index] ?? null;
      return end === null ? 'pending' : restOfEnd(end);
    }
    case 'try_catch':
      return restOfTry(frame, index);
    case 'saga':
      return restOfSaga(frame, index);
  }
}

function restOfCurrent(frame: Frame): Rest {
  return frame.state === 'open' ? 'pending' : restOfEnd(frame.state);
}

/** The body shows how its last pass ended; before the first one nothing has begun ([LOOP-9]). */
function betweenPasses({ detail }: Frame): Rest {
  const passes = detail.kind === 'loop' ? detail.passes : detail.kind === 'for_each' ? detail.index : 0;
  return passes === 0 ? 'pending' : 'skipped';
}

/** [TRY-2]: a catch list that was not taken is skipped, or cancelled when the try list was. */
function restOfTry(frame: Frame, index: number): Rest {
  if (frame.detail.kind !== 'try_catch') return 'pending';
  const { phase, tryEnd, catchEnd } = frame.detail;
  if (index === currentListIndex(frame)) return restOfCurrent(frame);
  if (index === 0) return tryEnd === null ? 'pending' : restOfEnd(tryEnd);
  if (index === 2 || phase === 'try') return 'pending';
  return restOfEnd(tryEnd === 'failed' ? (catchEnd ?? 'drained') : (tryEnd ?? 'drained'));
}

/** [SAGA-2], [SAGA-3]: the list of an action has an even index, the one of its compensation follows it. */
function restOfSaga(frame: Frame, index: number): Rest {
  if (frame.detail.kind !== 'saga') return 'pending';
  const { phase, step, done, ran } = frame.detail;
  if (index === currentListIndex(frame)) return restOfCurrent(frame);
  const ofStep = Math.floor(index / 2);
  const isOver = ran === undefined ? ofStep < step : ran.includes(ofStep);
  if (phase === 'forward') return index % 2 === 0 && isOver ? 'skipped' : 'pending';
  const toCome = index % 2 === 1 && done.includes(ofStep) && done.indexOf(ofStep) < done.indexOf(step);
  return toCome ? 'pending' : 'skipped';
}

/** One list as the tree sees it: its frame while it is worked on, its pass, and what its untouched blocks are. */
export interface InnerList {
  readonly frame: Frame | null;
  readonly iteration: string;
  readonly rest: Rest;
}
