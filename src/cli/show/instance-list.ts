import type * as z from 'zod';
import type { InstancePage } from '../../api/schemas/instance.ts';
import { type Palette, printable } from '../terminal.ts';
import { ago, waitWords } from './times.ts';
import { colouredState } from './tree.ts';

type Page = z.infer<typeof InstancePage>;
type Item = Page['items'][number];

/** What a list shows beside the page: by id of sequence and of instance. */
export interface ListFacts {
  readonly names: ReadonlyMap<string, string>;
  readonly failures: ReadonlyMap<string, string>;
  readonly nowMs: number;
}

const ID_WIDTH = 36;
const STATE_WIDTH = 'scheduled'.length;
const AGE_WIDTH = '59 min ago'.length;
const TEXT_MAX = 200;

/** Newest change first: id, state, age of the change, sequence; on a line below what it waits for or failed of. */
export function describeInstances(page: Page, facts: ListFacts, palette: Palette): readonly string[] {
  const head = `${'INSTANCE'.padEnd(ID_WIDTH)}  ${'STATE'.padEnd(STATE_WIDTH)}  ${'CHANGED'.padEnd(AGE_WIDTH)}  SEQUENCE`;
  const lines = page.items.flatMap((item) => {
    const padding = ' '.repeat(Math.max(0, STATE_WIDTH - item.state.length));
    const age = palette.dim(ago(item.updated_at, facts.nowMs).padEnd(AGE_WIDTH));
    const name = printable(facts.names.get(item.sequence_id) ?? item.sequence_id);
    const below = belowOf(item, facts, palette);
    return [
      `${palette.bold(item.id)}  ${colouredState(item.state, palette)}${padding}  ${age}  ${name}`,
      ...(below === null ? [] : [`    ${below}`]),
    ];
  });
  const all = [palette.dim(head), ...lines];
  return page.has_more ? [...all, palette.dim('There are more: see --limit and --state.')] : all;
}

function belowOf(
  { id, state, waits_for: waits }: Item,
  { failures }: ListFacts,
  palette: Palette,
): string | null {
  const failure = failures.get(id);
  if (state === 'failed' && failure !== undefined) return palette.red(printable(failure).slice(0, TEXT_MAX));
  if (waits === null || waits === undefined) return null;
  const where = waits.block_id === null ? '' : ` at ${printable(waits.block_id)}`;
  return palette.dim(waitWords(printable(waits.reason), waits.wake_at, where));
}
