import { describe, expect, it } from 'vitest';
import type { SqlDriver, SqlParam } from '../../src/adapters/postgres/driver.ts';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { MIGRATED } from '../postgres/store-database.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { step } from './support/blocks.ts';
import { TestEngine } from './support/test-engine.ts';

interface Cost {
  readonly statements: number;
  readonly bytesSent: number;
  readonly bytesRead: number;
  readonly rowsWritten: number;
  readonly rowsRead: number;
}

/** Index entries and rows that were looked at, and rows that were written, in all tables of the schema. */
const TOUCHED = `
SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint, coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::bigint
FROM pg_stat_user_tables WHERE schemaname = 'stepwell'`;

/** One connection whose traffic is counted. */
async function meteredWorld() {
  const inner = createPgDriver({ connectionString: (await createTestDatabase(MIGRATED)).url, poolSize: 1 });
  const meter = { statements: 0, bytesSent: 0, bytesRead: 0 };
  const count = async <T>(params: readonly SqlParam[], answer: Promise<T>): Promise<T> => {
    meter.statements += 1;
    meter.bytesSent += JSON.stringify(params).length;
    const rows = await answer;
    meter.bytesRead += JSON.stringify(rows).length;
    return rows;
  };
  const driver: SqlDriver = {
    ...inner,
    query: (text, params) => count(params, inner.query(text, params)),
    tenantQuery: (tenantId, text, params) => count(params, inner.tenantQuery(tenantId, text, params)),
  };
  const store = createPostgresStore(driver);
  const world = new TestEngine({
    scripts: { effect: {}, hand_on: { outcome: ({ params }) => ({ ok: true, output: params }) } },
    store: { store, advance: () => Promise.resolve() },
  });
  const read = async (): Promise<Cost> => {
    await inner.query('SELECT pg_stat_force_next_flush()', []);
    const [touched] = await inner.query(TOUCHED, []);
    return { ...meter, rowsWritten: Number(touched?.[0]), rowsRead: Number(touched?.[1]) };
  };
  return { world, read, store };
}

type Metered = Awaited<ReturnType<typeof meteredWorld>>;

/** What an item costs in a run of so many: a long and a short run are compared, so that what happens once counts little. */
async function costPerItem({ world, read }: Metered, block: JsonObject, count: number): Promise<Cost> {
  const process = world.idle();
  const ended = new Promise<void>((resolve) => process.engine.runner.onTurnEnd(() => resolve()));
  const sequence = await world.publish([block]);
  const before = await read();
  const xs = Array.from({ length: count }, (_, n) => ({ n: 100_000 + n }));
  const id = await world.start(sequence, { data: { xs }, on: process });
  await world.time.calm();
  await ended;
  expect((await world.view(id)).state).toBe('completed');
  const after = await read();
  const per = (name: keyof Cost): number => (after[name] - before[name]) / count;
  return {
    statements: per('statements'),
    bytesSent: per('bytesSent'),
    bytesRead: per('bytesRead'),
    rowsWritten: per('rowsWritten'),
    rowsRead: per('rowsRead'),
  };
}

const each = (members: JsonObject): JsonObject => ({
  type: 'for_each',
  id: 'each',
  collection: 'xs',
  max_iterations: 100_000,
  body: [
    step('a', 'hand_on', { params: { n: '{{item.n}}' } }),
    step('b', 'effect', { params: { of: '{{outputs.a.n}}' } }),
  ],
  ...members,
});

const SHORT = 150;
const LONG = 1500;

const cases: Readonly<Record<string, JsonObject>> = {
  'side by side': each({ concurrency: 8 }),
  'with collected outputs': each({ concurrency: 8, collect: true }),
  'with rows that are forgotten': each({ concurrency: 8, retain_iterations: 3 }),
  'with failures that are outlived': each({
    concurrency: 8,
    on_item_failure: 'continue',
    body: [step('bad', 'fail', { when: 'item.n % 2 == 0', params: { message: 'no' } }), step('c', 'effect')],
  }),
  'with a loop inside': each({
    concurrency: 8,
    body: [{ type: 'loop', id: 'l', condition: 'true', max_iterations: 2, body: [step('d', 'effect')] }],
  }),
};

describe('the cost of an item on PostgreSQL', () => {
  for (const [name, block] of Object.entries(cases)) {
    it(`does not grow with the number of items: ${name} (RULINGS B25)`, { timeout: 600_000 }, async () => {
      const metered = await meteredWorld();
      const short = await costPerItem(metered, block, SHORT);
      const long = await costPerItem(metered, block, LONG);
      console.log(name, JSON.stringify({ short, long }));
      for (const measure of ['statements', 'bytesSent', 'bytesRead', 'rowsWritten', 'rowsRead'] as const) {
        expect({ measure, grows: long[measure] > short[measure] * 1.15 + 1 }).toEqual({
          measure,
          grows: false,
        });
      }
      await metered.store.close();
    });
  }
});
