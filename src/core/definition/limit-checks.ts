import { utf8Bytes } from '../json.ts';
import type { Path } from './path.ts';
import { MAX_DURATION_MS } from './times.ts';

/** Records one violation; `path` is relative to the block, or to the document for top-level members. */
export type Report = (rule: string, message: string, path?: Path) => void;

/** A duration in milliseconds, absent ones are fine ([DUR-2]). */
export function checkDuration(duration: number | undefined, path: Path, report: Report): void {
  if (duration !== undefined && duration > MAX_DURATION_MS) {
    report('DUR-2', `${path.at(-1)} must be at most ${MAX_DURATION_MS} ms (ten years)`, path);
  }
}

/** The longest expression ([LIM-21]). */
const MAX_EXPRESSION_BYTES = 16 * 1024;

/** The length of an expression; whether it parses is a matter of warnings. */
export function checkExpression(text: string | undefined, path: Path, report: Report): void {
  if (text !== undefined && utf8Bytes(text) > MAX_EXPRESSION_BYTES) {
    report('LIM-21', `${path.at(-1)} must have at most ${MAX_EXPRESSION_BYTES} bytes`, path);
  }
}

/** A text that must say something. */
export function checkNotBlank(text: string | undefined, path: Path, rule: string, report: Report): void {
  if (text !== undefined && text.trim() === '') report(rule, `${path.at(-1)} must not be blank`, path);
}
