import type { Warning } from '../../core/definition/warning.ts';
import { type Palette, printable } from '../terminal.ts';

/** One warning about a document, with the block it is about and where it stands. */
export function describeWarning(
  sequenceName: string,
  { block_id: blockId, path, message }: Omit<Warning, 'code'>,
  { yellow, dim }: Palette,
): string {
  const block = blockId === undefined ? '' : `, block '${blockId}'`;
  const place = path === undefined ? '' : ` ${dim(printable(`at ${path}`))}`;
  return `${yellow('Warning')} ${printable(`${sequenceName}${block}: ${message}`)}${place}`;
}
