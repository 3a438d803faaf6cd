import { parseArgs } from 'node:util';

export interface Options {
  readonly seed: number;
  /** PostgreSQL; null is the embedded database. */
  readonly database: string | null;
  readonly runCount: number;
  readonly json: boolean;
}

const USAGE = `npm run example -- [--seed n] [--runs n] [--database postgres://…] [--json]

  --seed      repeats a run: same payloads, same failures, same places of the kills (default: by the clock)
  --runs      number of webhooks, 4 to 200 (default 12)
  --database  PostgreSQL database to use instead of an embedded one
  --json      prints the summary as JSON, the story goes to standard error`;

/** Null when the options make no sense; then the usage has been printed. */
export function readOptions(args: readonly string[]): Options | null {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string' },
        database: { type: 'string' },
        runs: { type: 'string', default: '12' },
        json: { type: 'boolean', default: false },
      },
    });
    const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
    const runCount = Number(values.runs);
    if (Number.isSafeInteger(seed) && Number.isInteger(runCount) && runCount >= 4 && runCount <= 200) {
      return { seed, database: values.database ?? null, runCount, json: values.json };
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
  }
  console.error(USAGE);
  return null;
}
