import type { PGlite } from '@electric-sql/pglite';
import { type SqlDriver, type SqlRows, type SqlStatement, createSqlDriver, toStoreError } from '../driver.ts';
import { lastRows } from '../rows.ts';

/**
 * The driver for PostgreSQL inside this process. PGlite has one connection: calls queue up, so nothing here can be
 * locked by anybody else, and there is no time-out.
 *
 * @param database An open PGlite; it is closed with the driver.
 */
export function createPGliteDriver(database: PGlite): SqlDriver {
  const rowsOf = async (queryable: Pick<PGlite, 'query'>, statement: SqlStatement): Promise<SqlRows> => {
    const result = await queryable.query<unknown[]>(statement.text, [...statement.params], {
      rowMode: 'array',
    });
    return result.rows;
  };
  return createSqlDriver({
    async send(statements) {
      try {
        const [only] = statements;
        if (statements.length === 1 && only !== undefined) return [await rowsOf(database, only)];
        return await database.transaction(async (transaction) => {
          const all: SqlRows[] = [];
          for (const statement of statements) all.push(await rowsOf(transaction, statement));
          return all;
        });
      } catch (error) {
        throw toStoreError(error, true);
      }
    },
    openSession: () =>
      Promise.resolve({
        async run(text) {
          try {
            return lastRows(await database.exec(text, { rowMode: 'array' }));
          } catch (error) {
            throw toStoreError(error, true);
          }
        },
        end: () => Promise.resolve(),
      }),
    close: () => database.close(),
  });
}
