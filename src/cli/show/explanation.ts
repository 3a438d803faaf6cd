import type * as z from 'zod';
import type { ExplanationBody } from '../../api/schemas/explanation.ts';
import { type Palette, printable } from '../terminal.ts';
import { colouredState } from './tree.ts';

/** The sentence first, then each thing that the instance waits for. */
export function describeExplanation(
  explanation: z.infer<typeof ExplanationBody>,
  palette: Palette,
): readonly string[] {
  const { bold, dim } = palette;
  const {
    state,
    summary,
    waiting_on: waits,
    lease,
    inbox_pending: pending,
    unheard_signals: unheard,
    claims,
  } = explanation;
  const lines = [`${colouredState(state, palette)}  ${bold(printable(summary))}`];
  for (const { kind, block_id: blockId, iteration, since, until, detail } of waits) {
    const where =
      blockId === null ? '' : ` ${printable(blockId)}${iteration === '' ? '' : ` (pass ${iteration})`}`;
    const end = until === null ? '' : `, until ${until}`;
    lines.push(`  ${kind.padEnd(6)}${where} ${printable(detail)} ${dim(`since ${since}${end}`)}`);
  }
  for (const { name, detail, accepted_at: at } of unheard)
    lines.push(`  signal ${printable(name)} was of no effect: ${printable(detail)} ${dim(`sent ${at}`)}`);
  if (lease !== null) lines.push(dim(`  held by ${printable(lease.owner)} until ${lease.until}`));
  if (pending > 0) lines.push(dim(`  ${pending} accepted facts not looked at yet`));
  lines.push(dim(`  claimed ${claims.count === 1 ? 'once' : `${claims.count} times`}`));
  return lines;
}
