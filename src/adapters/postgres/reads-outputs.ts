import { type SQL, and, asc, desc, eq, getTableColumns, isNull, ne, sql } from 'drizzle-orm';
import { EXTERNALIZE_BYTES, type OutputRow } from '../../core/run/output-row.ts';
import type { WhichRows } from '../../ports/store/reads.ts';
import { isUuid } from './call.ts';
import { askTables } from './database.ts';
import type { SqlDriver } from './driver.ts';
import { blockOutputs, taskInstances } from './schema.ts';
import { readOutputRow } from './tables/rows.ts';

/** A limit that is none. */
const ALL = 2 ** 31 - 1;

/**
 * The live rows of an instance. One statement that begins at the instance, so that an unknown instance (no row) and an
 * empty list (one row of nulls) are told apart in one round trip.
 */
export async function listOutputs(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
  which: WhichRows,
): Promise<readonly OutputRow[] | null> {
  if (!isUuid(id)) return null;
  const backwards = (which.beforeId ?? null) !== null;
  const inOrder = backwards ? desc : asc;
  const leftOut = leftOutBy(which, inOrder);
  const beyond = beyondBy(which, inOrder);
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select({
        row: {
          ...getTableColumns(blockOutputs),
          // A large value that is not selected is not read either: it lies outside the row.
          output:
            sql`CASE WHEN ${leftOut} OR ${beyond} THEN 'null'::jsonb ELSE ${blockOutputs.output} END`.mapWith(
              blockOutputs.output,
            ),
        },
        isLeftOut: leftOut.mapWith(Boolean),
        isBeyond: beyond.mapWith(Boolean),
      })
      .from(taskInstances)
      .leftJoin(blockOutputs, wanted(which))
      .where(
        and(eq(taskInstances.id, id), tenantId === null ? undefined : eq(taskInstances.tenantId, tenantId)),
      )
      .orderBy(inOrder(blockOutputs.rev), inOrder(blockOutputs.ordinal))
      .limit(which.limit ?? ALL),
  );
  if (rows.length === 0) return null;
  const found = rows.flatMap(({ row, isLeftOut, isBeyond }) => {
    if (row === null || isBeyond) return [];
    return isLeftOut ? [{ ...readOutputRow(row), isLeftOut }] : [readOutputRow(row)];
  });
  return backwards ? found.reverse() : found;
}

function leftOutBy({ inlineBytes }: WhichRows, inOrder: typeof asc): SQL {
  if (inlineBytes === undefined) return sql`false`;
  const { outputSize, rev, ordinal } = blockOutputs;
  const bytes = sql`sum(${outputSize}) OVER (ORDER BY ${inOrder(rev)}, ${inOrder(ordinal)})`;
  return sql`coalesce(${outputSize} >= ${EXTERNALIZE_BYTES}::integer AND ${bytes} > ${inlineBytes}::bigint, false)`;
}

/** The bytes only grow, so that all behind the first such row are such rows too. */
function beyondBy({ maxBytes }: WhichRows, inOrder: typeof asc): SQL {
  if (maxBytes === undefined) return sql`false`;
  const { outputSize, rev, ordinal } = blockOutputs;
  const upToHere = sql`OVER (ORDER BY ${inOrder(rev)}, ${inOrder(ordinal)} ROWS UNBOUNDED PRECEDING)`;
  const isFirst = sql`row_number() ${upToHere} = 1`;
  return sql`coalesce(sum(${outputSize}) ${upToHere} > ${maxBytes}::bigint AND NOT ${isFirst}, false)`;
}

function wanted({
  node,
  retry,
  after = null,
  beforeId = null,
  blockId = null,
  iteration = null,
}: WhichRows): SQL | undefined {
  const { rev, ordinal } = blockOutputs;
  const hidden = [...(node ? [] : ['node']), ...(retry ? [] : ['retry'])];
  return and(
    eq(blockOutputs.instanceId, taskInstances.id),
    eq(blockOutputs.tenantId, taskInstances.tenantId),
    isNull(blockOutputs.supersededBy),
    ...hidden.map((kind) => ne(blockOutputs.kind, kind)),
    blockId === null ? undefined : eq(blockOutputs.blockId, blockId),
    iteration === null ? undefined : eq(blockOutputs.iteration, iteration),
    after === null
      ? undefined
      : sql`(${rev}, ${ordinal}) > (${after.rev}::bigint, ${after.ordinal}::integer)`,
    beforeId === null ? undefined : isBefore(beforeId),
  );
}

function isBefore(rowId: string): SQL {
  if (!isUuid(rowId)) return sql`false`;
  const { rev, ordinal } = blockOutputs;
  return sql`(${rev}, ${ordinal}) < (
    SELECT b.rev, b.ordinal FROM stepwell.block_outputs b
    WHERE b.instance_id = ${taskInstances.id} AND b.id = ${rowId}::uuid AND b.superseded_by IS NULL)`;
}

export async function getOutput(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
  rowId: string,
): Promise<OutputRow | null> {
  if (!isUuid(id) || !isUuid(rowId)) return null;
  const [row] = await askTables(driver, tenantId, (tables) =>
    tables
      .select()
      .from(blockOutputs)
      .where(
        and(
          eq(blockOutputs.instanceId, id),
          eq(blockOutputs.id, rowId),
          isNull(blockOutputs.supersededBy),
          tenantId === null ? undefined : eq(blockOutputs.tenantId, tenantId),
        ),
      ),
  );
  return row === undefined ? null : readOutputRow(row);
}
