import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';

/**
 * Puts the database's clock into the hands of a test: `sw_now` is replaced by a function that reads a table. It needs the
 * owner of the schema and stays for the life of the database, so nothing that serves users may call it.
 */
export async function installTestClock(driver: SqlDriver, nowMs: number): Promise<void> {
  const session = await driver.openSession();
  try {
    await session.run(`
CREATE TABLE IF NOT EXISTS stepwell.test_clock (at timestamptz NOT NULL);
GRANT SELECT ON stepwell.test_clock TO stepwell_engine, stepwell_app;
DELETE FROM stepwell.test_clock;
INSERT INTO stepwell.test_clock VALUES (stepwell.from_ms(${nowMs}));
CREATE OR REPLACE FUNCTION stepwell.sw_now() RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN (SELECT c.at FROM stepwell.test_clock c);`);
  } finally {
    await session.end();
  }
}

/** Moves a clock that `installTestClock` has put in. */
export async function advanceTestClock(driver: SqlDriver, ms: number): Promise<void> {
  await driver.query("UPDATE stepwell.test_clock SET at = at + $1 * interval '1 millisecond'", [ms]);
}
