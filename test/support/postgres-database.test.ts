import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from './postgres-database.ts';

async function queryOnce(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

describe('createTestDatabase', () => {
  it('gives each caller an empty database of its own', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await queryOnce(first.url, 'CREATE TABLE only_here (id int)');
    const seen = await queryOnce(second.url, "SELECT to_regclass('only_here') AS found");
    expect(seen.rows).toEqual([{ found: null }]);
  });

  it('prepares a template once and copies it for each caller', async () => {
    let preparedCount = 0;
    const template = {
      name: 'one_table',
      prepare: async (url: string) => {
        preparedCount += 1;
        await queryOnce(url, 'CREATE TABLE prepared (id int)');
      },
    };
    const databases = await Promise.all([createTestDatabase(template), createTestDatabase(template)]);
    for (const database of databases) {
      const seen = await queryOnce(database.url, 'SELECT count(*)::int AS rows FROM prepared');
      expect(seen.rows).toEqual([{ rows: 0 }]);
    }
    expect(preparedCount).toBe(1);
  });
});
