import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PGlite } from '@electric-sql/pglite';
import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { createNeonDriver } from '../../src/adapters/postgres/drivers/neon.ts';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { createPGliteDriver } from '../../src/adapters/postgres/drivers/pglite.ts';
import { migrate } from '../../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { MIGRATED } from '../postgres/store-database.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { step, steps } from './support/blocks.ts';
import { TestEngine } from './support/test-engine.ts';
import { DATABASES, type DatabaseName } from './support/sql-worlds.ts';

interface Meter {
  readonly driver: SqlDriver;
  /** Bytes of all answers, as JSON. */
  bytes(): number;
}

/** Counts what comes back, over any driver. */
function metered(inner: SqlDriver): Meter {
  let bytes = 0;
  const count = <T>(rows: T): T => {
    bytes += JSON.stringify(rows).length;
    return rows;
  };
  const driver: SqlDriver = {
    ...inner,
    query: async (text, params) => count(await inner.query(text, params)),
    tenantQuery: async (tenantId, text, params) => count(await inner.tenantQuery(tenantId, text, params)),
  };
  return { driver, bytes: () => bytes };
}

let neonLocal: NeonLocal | null = null;
beforeAll(async () => {
  neonLocal = await startNeonLocal();
});
afterAll(async () => {
  await neonLocal?.close();
});

const drivers: Readonly<Record<DatabaseName, () => Promise<SqlDriver>>> = {
  PostgreSQL: async () =>
    createPgDriver({ connectionString: (await createTestDatabase(MIGRATED)).url, poolSize: 2 }),
  PGlite: async () => {
    const driver = createPGliteDriver(await PGlite.create());
    await migrate(driver);
    return driver;
  },
  'Neon over HTTP': async () =>
    createNeonDriver({ connectionString: (await createTestDatabase(MIGRATED)).url, clock: systemClock }),
};

/** A world on this driver and the database's own clock; its only process does nothing but run what is started in it. */
async function worldOn(name: DatabaseName) {
  const meter = metered(await drivers[name]());
  const store = createPostgresStore(meter.driver);
  const world = new TestEngine({
    scripts: { effect: {}, hand_on: { outcome: ({ params }) => ({ ok: true, output: params }) } },
    store: { store, advance: () => Promise.resolve() },
  });
  const process = world.idle();
  const ended = (): Promise<void> =>
    new Promise((resolve) => process.engine.runner.onTurnEnd(() => resolve()));
  return { meter, world, ended, close: () => store.close() };
}

describe.each(DATABASES)('on %s', (name) => {
  it('ten effectful steps cost at most 13 round trips from the start to the end', {
    timeout: 120_000,
  }, async () => {
    const { meter, world, ended, close } = await worldOn(name);
    const sequence = await world.publish(steps('s', 10, 'effect'));
    const before = meter.driver.roundTripCount();
    const done = ended();
    const id = await world.start(sequence);
    await world.time.calm();
    await done;
    const cost = meter.driver.roundTripCount() - before;
    expect((await world.view(id)).state).toBe('completed');
    console.log(`${name}: ${cost} round trips for 10 effectful steps`);
    expect(cost).toBeLessThanOrEqual(13);
    await close();
  });

  it('a step costs the same after two thousand others', { timeout: 600_000 }, async () => {
    const count = 2000;
    const { meter, world, ended, close } = await worldOn(name);
    const blocks = steps('s', count, 'hand_on').map((block, index) =>
      index === 0
        ? step('s1', 'hand_on', { params: { n: 1 } })
        : { ...block, params: { n: `{{outputs.s${index}.n}}` } },
    );
    const marks: { readonly trips: number; readonly bytes: number }[] = [];
    const sequence = await world.publish(blocks);
    world.ledger.onCall = () =>
      void marks.push({ trips: meter.driver.roundTripCount(), bytes: meter.bytes() });
    const done = ended();
    const id = await world.start(sequence);
    await world.time.calm();
    await done;
    expect((await world.view(id)).state).toBe('completed');
    expect(marks).toHaveLength(count);
    const costOf = (from: number, to: number) => {
      const [first, last] = [marks[from], marks[to]];
      return {
        trips: (last?.trips ?? 0) - (first?.trips ?? 0),
        bytes: (last?.bytes ?? 0) - (first?.bytes ?? 0),
      };
    };
    const early = costOf(100, 200);
    const late = costOf(count - 101, count - 1);
    console.log(
      `${name}: 100 steps cost ${early.trips} round trips and ${early.bytes} bytes, later ${late.trips} and ${late.bytes}`,
    );
    expect(late.trips).toBe(early.trips);
    expect(late.trips).toBe(100);
    // Numbers that count up grow by a digit now and then.
    expect(late.bytes).toBeLessThanOrEqual(early.bytes * 1.05);
    await close();
  });
});
