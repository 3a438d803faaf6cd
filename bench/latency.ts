import { systemClock } from '../src/adapters/system.ts';
import { createPgDriver } from '../src/adapters/postgres/drivers/pg.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../src/adapters/postgres/store.ts';
import { CompletionWatch, publishFlat, runOne, startBenchEngine } from './bench-engine.ts';

export interface Latency {
  /** Milliseconds from the start to the completion of each run. */
  readonly runsMs: readonly number[];
  readonly roundTripsPerRun: number;
}

/** One instance of so many effectful steps at a time on an idle server. */
export async function engineLatency(url: string, runs: number, steps: number): Promise<Latency> {
  const driver = createPgDriver({ connectionString: url, poolSize: 4 });
  await migrate(driver);
  const store = createPostgresStore(driver);
  const engine = startBenchEngine(store);
  try {
    const watch = new CompletionWatch(engine);
    const sequenceId = await publishFlat(engine, steps);
    for (let warm = 0; warm < 10; warm += 1) await runOne(engine, watch, sequenceId);
    const tripsBefore = driver.roundTripCount();
    const runsMs: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const startedAt = systemClock.monotonicMs();
      await runOne(engine, watch, sequenceId);
      runsMs.push(systemClock.monotonicMs() - startedAt);
    }
    return { runsMs, roundTripsPerRun: (driver.roundTripCount() - tripsBefore) / runs };
  } finally {
    await engine.loop.stop();
    await store.close();
  }
}
