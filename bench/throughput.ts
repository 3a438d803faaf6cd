import { systemClock } from '../src/adapters/system.ts';
import { createPgDriver } from '../src/adapters/postgres/drivers/pg.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../src/adapters/postgres/store.ts';
import { CompletionWatch, newInstance, publishFlat, startBenchEngine } from './bench-engine.ts';

/**
 * Starts many instances at once and runs them to the end; answers durable steps per second from the first start to the
 * last completion. Every step's output is committed before the next one of its instance begins.
 */
export async function engineStepsPerSecond(url: string, instances: number, steps: number): Promise<number> {
  const driver = createPgDriver({ connectionString: url, poolSize: 10 });
  await migrate(driver);
  const store = createPostgresStore(driver);
  const engine = startBenchEngine(store);
  try {
    const watch = new CompletionWatch(engine);
    const sequenceId = await publishFlat(engine, steps);
    const all = Array.from({ length: instances }, () => newInstance(engine, sequenceId));
    const completions = all.map((instance) => watch.of(instance.id));
    const startedAt = systemClock.monotonicMs();
    const answer = await store.start({
      instances: all,
      onKnownKey: 'first',
      lease: engine.runner.newLease(),
    });
    if (answer.status !== 'ok') throw new Error(`the start answered ${answer.status}`);
    for (const { claim } of answer.started) if (claim !== null) engine.runner.adopt(claim);
    await Promise.all(completions);
    return (instances * steps * 1000) / (systemClock.monotonicMs() - startedAt);
  } finally {
    await engine.loop.stop();
    await store.close();
  }
}
