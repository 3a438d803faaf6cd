import type { PreviewBody } from '../../api/schemas/shape.ts';
import { type Palette, printable } from '../terminal.ts';
import { colouredState } from './tree.ts';

/** What a migration keeps, drops and brings, block by block, and what stops it. */
export function describePreview(preview: PreviewBody, { bold, dim, ...palette }: Palette): readonly string[] {
  const all: Palette = { bold, dim, ...palette };
  const line = (
    sign: string,
    { block_id: id, state, reason }: PreviewBody['kept'][number],
    more = '',
  ): string => `  ${sign} ${printable(id)}  ${colouredState(state, all)}${more} ${dim(reason)}`;
  const { kept, dropped, new: added, refusals, injected } = preview;
  return [
    ...section(
      bold(`Kept ${kept.length}`),
      kept.map((block) => line('=', block)),
    ),
    ...section(
      bold(`Dropped ${dropped.length}`),
      dropped.map((block) =>
        line('-', block, block.cancels === null ? '' : `, cancels its ${noun(block.cancels)}`),
      ),
    ),
    ...section(
      bold(`New ${added.length}`),
      added.map((block) => line('+', block)),
    ),
    ...injected.replaced.map((id) => dim(`  injected ${printable(id)} gives way to the block of the target`)),
    ...(refusals.length === 0 ? [] : [bold('Not possible from where the run stands')]),
    ...refusals.map(({ block_id: id, reason }) => `  ${palette.red(printable(id))} ${printable(reason)}`),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

function noun(cancels: string): string {
  return cancels.replaceAll('_', ' ');
}
