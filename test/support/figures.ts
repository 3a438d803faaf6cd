import { appendFileSync } from 'node:fs';

/** Tables of figures that tests take on their way; `npm run deploy:check` shows them at its end. */
export type Table = 'bundles' | 'imports' | 'worker' | 'faults';

/** Tells a row to whoever collects them, a file named by STEPWELL_FIGURES; else it is printed. Nothing is asserted. */
export function tellFigures(table: Table, row: Readonly<Record<string, string | number>>): void {
  const line = JSON.stringify({ table, ...row });
  const file = process.env['STEPWELL_FIGURES'];
  if (file === undefined) console.log(line);
  else appendFileSync(file, `${line}\n`);
}
