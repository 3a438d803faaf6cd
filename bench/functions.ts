import { createPgDriver } from '../src/adapters/postgres/drivers/pg.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { startNeonLocal } from '../test/support/neon-local.ts';
import { type FunctionLatency, functionLatency } from './function-latency.ts';
import { type Asked, type IdleHour, idleHour } from './idle-hour.ts';
import { showSpread, spreadOf } from './statistics.ts';

const STEPS = 10;

export interface FunctionFigures {
  readonly latency: readonly FunctionLatency[];
  readonly idle: IdleHour;
}

/**
 * The functions of a deployment over the driver of Neon and a stand-in before this PostgreSQL, which adds latency.
 *
 * @param runs Of each latency; 0: only what an idle deployment asks is counted.
 */
export async function functionFigures(databaseUrl: string, runs: number): Promise<FunctionFigures> {
  const owner = createPgDriver({ connectionString: databaseUrl, poolSize: 1 });
  await migrate(owner);
  await owner.close();
  const neon = await startNeonLocal();
  try {
    const latency = runs === 0 ? [] : await functionLatency({ databaseUrl, neon, runs, steps: STEPS });
    return { latency, idle: await idleHour(databaseUrl, neon) };
  } finally {
    await neon.close();
  }
}

/** Tables as they stand in README.md. */
export function showFunctionFigures({ latency, idle }: FunctionFigures): string {
  return `${latency.length === 0 ? '' : latencyTable(latency)}${idleTable(idle)}`;
}

function latencyTable(latency: FunctionFigures['latency']): string {
  const rows = latency.map(
    ({ mode, addedLatencyMs, roundTripsPerStep, invocationsPerStep, stepMs }) =>
      `| ${mode} | ${addedLatencyMs} ms | ${invocationsPerStep.toFixed(2)} | ${roundTripsPerStep.toFixed(2)} | ${showSpread(spreadOf(stepMs), 1)} |`,
  );
  return `
An instance of ${STEPS} effectful steps over Neon's HTTP driver; medians [min-max] of ${latency[0]?.stepMs.length ?? 0} runs

| turns | added latency | invocations per step | round trips per step | ms per step |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

function idleTable(idle: IdleHour): string {
  const asked = ({ statements, requests }: Asked): string => `${statements} | ${requests}`;
  const { economyUntilRest } = idle;
  return `
| an idle deployment | statements | requests |
|---|---|---|
| steady mode, an hour (60 sweeps) | ${asked(idle.steady)} |
| economy mode, an hour | ${asked(idle.economy)} |
| economy mode, after the last run until it rests (wakes: ${economyUntilRest.wakes}) | ${asked(economyUntilRest)} |
| economy mode, a safety sweep and the hour after it (wakes: ${idle.safetySweep.wakes}) | ${asked(idle.safetySweep)} |
`;
}
