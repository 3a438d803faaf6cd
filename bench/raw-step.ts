import pg from 'pg';
import { systemClock } from '../src/adapters/system.ts';

/** Runs at once, as many as a peer with a pool of that size would have in flight. */
const IN_FLIGHT = 20;

const TABLES = `
  DROP TABLE IF EXISTS raw_outputs, raw_instances;
  CREATE TABLE raw_instances (id int PRIMARY KEY, position int NOT NULL) WITH (fillfactor = 70);
  CREATE TABLE raw_outputs (instance_id int, position int, output jsonb, PRIMARY KEY (instance_id, position));`;

const STEP = `
  WITH moved AS (UPDATE raw_instances SET position = $2 WHERE id = $1 AND position = $2 - 1 RETURNING id)
  INSERT INTO raw_outputs SELECT id, $2, $3 FROM moved`;

/**
 * The floor without group commit: one statement and one flush per step, nothing else. No retries, no leases, no schema:
 * what a careful engine that commits each step by itself cannot go below. Answers durable steps per second.
 */
export async function rawStepsPerSecond(url: string, instances: number, steps: number): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: IN_FLIGHT });
  try {
    await pool.query(TABLES);
    await pool.query('INSERT INTO raw_instances SELECT n, 0 FROM generate_series(1, $1) n', [instances]);
    const startedAt = systemClock.monotonicMs();
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < instances) {
        next += 1;
        const id = next;
        for (let position = 1; position <= steps; position += 1) {
          await pool.query({ name: 'step', text: STEP, values: [id, position, '{"ok":true}'] });
        }
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    const elapsedMs = systemClock.monotonicMs() - startedAt;
    const counted = await pool.query<{ n: string }>('SELECT count(*) AS n FROM raw_outputs');
    if (Number(counted.rows[0]?.n) !== instances * steps) throw new Error('the raw loop lost steps');
    return (instances * steps * 1000) / elapsedMs;
  } finally {
    await pool.end();
  }
}
