import type { SqlRows } from './driver.ts';
import { answerOf } from './rows.ts';

/** Column 0 of each row that has something there: a list that comes row by row, so that nothing holds all of it at once. */
export function answersOf<T>(rows: SqlRows): readonly T[] {
  return rows.filter(([answer]) => answer !== null).map((row) => answerOf<T>([row]));
}

/** As `answersOf`, for what lies behind something: null when that is not known and has no row at all. */
export function answersBehind<T>(rows: SqlRows): readonly T[] | null {
  return rows.length === 0 ? null : answersOf<T>(rows);
}
