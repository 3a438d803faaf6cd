import { textOf } from '../expressions/values.ts';
import { trimBlanks } from '../expressions/lexical.ts';
import type { Evaluation } from '../expressions/paths.ts';
import type { Followed } from '../expressions/resolve-chain.ts';
import type { Chain, Reading } from '../expressions/template-syntax.ts';
import { giverOf, rawValue } from './shown-value.ts';
import type { TraceEntry } from './trace-entry.ts';

/** Which alternative of a chain gave its value. */
export function describeChain(
  chain: Chain,
  followed: Followed,
  evaluation: Evaluation,
): Pick<TraceEntry, 'status' | 'source' | 'fallbackUsed'> {
  const fallbackUsed = followed.from > 0;
  if (followed.literal) {
    return { status: followed.value === null ? 'null' : 'ok', source: 'literal', fallbackUsed };
  }
  const giver = giverOf(chain, followed);
  if (giver === undefined) return { status: 'missing', fallbackUsed };
  const isNull = giver.via === 'value' && rawValue(giver.target, evaluation) === null;
  return { status: isNull ? 'null' : 'ok', source: spelledPath(giver), fallbackUsed };
}

/** The path of a reading as its text spells it, without the call around it. As a literal it would be that very text. */
function spelledPath({ via, literal }: Reading): string {
  const text = textOf(literal);
  return via === 'value' ? text : trimBlanks(text.slice(text.indexOf('(') + 1, -1));
}
