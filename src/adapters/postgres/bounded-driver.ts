import { ReadTooLarge } from '../../ports/store/bounded-reads.ts';
import { type SqlDriver, SqlError, type SqlRows } from './driver.ts';

/** What `within_bytes` raises, and the database itself where an answer is longer than any may be. */
const PROGRAM_LIMIT_EXCEEDED = '54000';

/** A driver for reads, each of which answers no more than `maxBytes` or rejects with `ReadTooLarge`. */
export function boundedDriver(driver: SqlDriver, maxBytes: number): SqlDriver {
  const bounded = async (read: () => Promise<SqlRows>): Promise<SqlRows> => {
    try {
      return await read();
    } catch (error) {
      const isTooLarge = error instanceof SqlError && error.code === PROGRAM_LIMIT_EXCEEDED;
      throw isTooLarge ? new ReadTooLarge(maxBytes) : error;
    }
  };
  return {
    ...driver,
    query: (text, params) => bounded(() => driver.query(boundedText(text, maxBytes), params)),
    tenantQuery: (tenantId, text, params) =>
      bounded(() => driver.tenantQuery(tenantId, boundedText(text, maxBytes), params)),
  };
}

/**
 * The same rows, with two columns behind those that were asked for. The database counts the bytes of each row and stops at the
 * first one that is too much; nothing is sent before, since the last column wants to know how many rows there are. OFFSET 0
 * keeps what a row is made of from being made once more for the count.
 */
function boundedText(text: string, maxBytes: number): string {
  return `SELECT counted.*, count(*) OVER () FROM (
  SELECT r.*, stepwell.within_bytes(sum(octet_length(row_to_json(r)::text)) OVER (ROWS UNBOUNDED PRECEDING), ${maxBytes})
  FROM (SELECT asked.* FROM (${text}
  ) asked OFFSET 0) r
) counted`;
}
