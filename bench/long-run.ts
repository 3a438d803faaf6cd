import { systemClock } from '../src/adapters/system.ts';
import { createPgDriver } from '../src/adapters/postgres/drivers/pg.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../src/adapters/postgres/store.ts';
import { CompletionWatch, publishFlat, runOne, startBenchEngine } from './bench-engine.ts';

/** Steps at the beginning that are left out: the first ones warm the process up. */
const WARM_STEPS = 100;
const MEASURED_STEPS = 100;

/** How much longer the last 100 steps of a long run take than its first ones: 1 means that history costs nothing. */
export async function lateStepCost(url: string, steps: number): Promise<number> {
  const driver = createPgDriver({ connectionString: url, poolSize: 4 });
  await migrate(driver);
  const store = createPostgresStore(driver);
  const calledAt: number[] = [];
  const engine = startBenchEngine(store, () => calledAt.push(systemClock.monotonicMs()));
  try {
    const watch = new CompletionWatch(engine);
    await runOne(engine, watch, await publishFlat(engine, WARM_STEPS));
    calledAt.length = 0;
    await runOne(engine, watch, await publishFlat(engine, steps));
    return tookMs(calledAt, steps - MEASURED_STEPS - 1) / tookMs(calledAt, 0);
  } finally {
    await engine.loop.stop();
    await store.close();
  }
}

function tookMs(calledAt: readonly number[], from: number): number {
  return (calledAt[from + MEASURED_STEPS] ?? Number.NaN) - (calledAt[from] ?? Number.NaN);
}
