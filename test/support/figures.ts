import { appendFileSync } from 'node:fs';

/** Tables of figures that tests take on their way; `npm run deploy:check` shows them at its end. */
export type Table = 'bundles' | 'imports' | 'worker' | 'faults';

/** Tells a row to whoever collects them, in a file that STEPWELL_FIGURES names. Nothing is asserted. */
export function tellFigures(table: Table, row: Readonly<Record<string, string | number>>): void {
  const file = process.env['STEPWELL_FIGURES'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ table, ...row })}\n`);
}
