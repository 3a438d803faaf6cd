import type { InstanceBody } from '../../api/schemas/instance.ts';
import { type Palette, printable, wrapped } from '../terminal.ts';
import { colouredState } from './tree.ts';

/** What is left of 80 columns beside the names. */
const SUMMARY_COLUMNS = 69;

/** The instance in a few lines: state, times, data. */
export function describeInstance(
  instance: InstanceBody,
  { name, summary }: { readonly name: string | null; readonly summary: string | null },
  palette: Palette,
): readonly string[] {
  const row = (name: string, value: string) => `${palette.dim(name.padEnd(10))} ${value}`;
  const lines = [
    row('instance', palette.bold(instance.id)),
    row('state', colouredState(instance.state, palette)),
    ...(summary === null ? [] : wrapped(printable(summary), SUMMARY_COLUMNS).map((line) => row('', line))),
    row(
      'sequence',
      name === null ? instance.sequence_id : `${printable(name)} ${palette.dim(instance.sequence_id)}`,
    ),
    row('created', instance.created_at),
    row('changed', instance.updated_at),
  ];
  if (instance.next_fire_at !== null) lines.push(row('due', instance.next_fire_at));
  lines.push(row('metadata', oneLine(instance.metadata)), row('data', ''));
  return [...lines, ...indented(instance.context.data)];
}

/** A value as indented JSON. */
function indented(value: unknown): readonly string[] {
  const text = JSON.stringify(value, null, 2) ?? 'null';
  return text.split('\n').map((line) => `  ${printable(line)}`);
}

function oneLine(value: unknown): string {
  return printable(JSON.stringify(value) ?? '');
}
