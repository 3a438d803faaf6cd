import type { Denial, TakeAnswer, Taken } from '../../core/run/limits/takes.ts';
import type { TurnVerdict } from '../../ports/store/turn.ts';
import { type InboxAnswer, NO_FACTS, readInbox } from './rows.ts';

interface VerdictAnswer {
  readonly verdict: string;
  readonly granted: boolean | null;
  readonly inbox: readonly InboxAnswer[] | null;
  readonly taken?: readonly TakenAnswer[] | null;
  readonly breakers?: readonly string[] | null;
  readonly next?: string | null;
}

/** What limits say to one intent; `denied` names the limit. */
type TakenAnswer =
  | { readonly taken: Omit<Taken, 'rate'> }
  | { readonly denied: Denial; readonly until: number | null };

function readTaken(answer: TakenAnswer): TakeAnswer {
  if ('taken' in answer) return { granted: true, taken: answer.taken };
  return { granted: false, reason: answer.denied, until: answer.until };
}

/** `allGranted`: every turn was stored and granted, and no fact waits. */
export type VerdictsAnswer =
  | { readonly now: number; readonly allGranted: true }
  | { readonly now: number; readonly allGranted?: never; readonly verdicts: readonly VerdictAnswer[] };

const GRANTED: TurnVerdict = { verdict: 'ok', granted: true, inbox: NO_FACTS };

/** The verdicts of so many turns. */
export function readVerdicts(answer: VerdictsAnswer, count: number): readonly TurnVerdict[] {
  if (answer.allGranted) return new Array<TurnVerdict>(count).fill(GRANTED);
  return answer.verdicts.map(readVerdict);
}

function readVerdict(answer: VerdictAnswer): TurnVerdict {
  const { verdict, granted, inbox, taken, breakers, next } = answer;
  switch (verdict) {
    case 'ok':
    case 'already': {
      const read = { verdict, granted: granted ?? false, inbox: readInbox(inbox) };
      // Most turns hear no more than this.
      if (!taken && !breakers && !next) return read;
      return {
        ...read,
        ...(taken === null || taken === undefined ? {} : { taken: taken.map(readTaken) }),
        ...(breakers === null || breakers === undefined ? {} : { openBreakers: breakers }),
        ...(next === null || next === undefined ? {} : { nextOfKey: next }),
      };
    }
    case 'fenced':
    case 'refused':
    case 'busy':
      return { verdict };
    default:
      return { verdict: 'bug', message: verdict.replace(/^bug: /, '') };
  }
}
