import type * as z from 'zod';
import type { InstancePage } from '../../api/schemas/instance.ts';
import { type Palette, printable } from '../terminal.ts';
import { colouredState } from './tree.ts';

type Page = z.infer<typeof InstancePage>;

const STATE_WIDTH = 'scheduled'.length;

/** One line for each instance, newest change first: id, state, what it waits for, when it changed. */
export function describeInstances(page: Page, palette: Palette): readonly string[] {
  const lines = page.items.map(({ id, state, waits_for: waits, updated_at: changed }) => {
    const padding = ' '.repeat(Math.max(0, STATE_WIDTH - state.length));
    const wait = waits === null || waits === undefined ? '' : `  for ${waitText(waits)}`;
    return `${palette.bold(id)}  ${colouredState(state, palette)}${padding}  ${palette.dim(changed)}${wait}`;
  });
  return page.has_more ? [...lines, palette.dim('There are more: see --limit and --state.')] : lines;
}

function waitText({ reason, block_id, wake_at }: NonNullable<Page['items'][number]['waits_for']>): string {
  const where = block_id === null ? '' : ` at ${printable(block_id)}`;
  return `${printable(reason)}${where}${wake_at === null ? '' : ` until ${wake_at}`}`;
}
