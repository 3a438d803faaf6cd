import { type SQL, and, asc, desc, eq, sql } from 'drizzle-orm';
import type { Json } from '../../core/json.ts';
import type {
  CatalogStore,
  NewSequence,
  NewTrigger,
  SequenceName,
  SequenceRecord,
  TriggerRecord,
  WantedVersion,
} from '../../ports/store/catalog.ts';
import { call, isUuid } from './call.ts';
import { askTables } from './database.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';
import { sequences, triggers } from './schema.ts';
import { readSequence } from './tables/rows.ts';

const PUBLISH_DEPLOYED = 'SELECT stepwell.publish_deployed_v1($1::jsonb)';

/** What publishing and administration need; turns read a version by its id only (catalog.ts). */
export function createCatalogTables(driver: SqlDriver): Omit<CatalogStore, 'getSequence' | 'deleteSequence'> {
  return {
    insertSequence: (sequence) => insertSequence(driver, sequence),
    publishDeployed: async (sequence) =>
      answerOf(await call(driver, PUBLISH_DEPLOYED, [JSON.stringify(sequence)])),
    async findSequence({ version, ...name }) {
      const filters = [...named(name), ...versionCondition(version)];
      return (await selectSequences(driver, name.tenantId, filters, 1))[0] ?? null;
    },
    listSequences({ tenantId, namespace, name = null, limit, offset }) {
      const filters = [
        ...(namespace === null ? [] : [eq(sequences.namespace, namespace)]),
        ...(name === null ? [] : [eq(sequences.name, name)]),
      ];
      return selectSequences(driver, tenantId, filters, limit, offset);
    },
    listVersions: (name) =>
      selectSequences(driver, name.tenantId, [...named(name), eq(sequences.deprecated, false)], VERSIONS_MAX),
    deprecateSequence: (tenantId, id) => deprecateSequence(driver, tenantId, id),
    setSequenceStatus: (tenantId, id, from, to) => setSequenceStatus(driver, tenantId, id, { from, to }),
    insertTrigger: (trigger) => insertTrigger(driver, trigger),
    getTrigger: (tenantId, slug) => getTrigger(driver, tenantId, slug),
    listTriggers: (tenantId, limit) => listTriggers(driver, tenantId, limit),
    deleteTrigger: (tenantId, slug) => deleteTrigger(driver, tenantId, slug),
  };
}

/** More versions of one name than this are not listed. */
const VERSIONS_MAX = 10_000;

/** The tenant is in every predicate as well as in the policy (DESIGN 6). */
function ofTenant(
  column: typeof sequences.tenantId | typeof triggers.tenantId,
  tenantId: string | null,
): SQL | undefined {
  return tenantId === null ? undefined : eq(column, tenantId);
}

function named(name: SequenceName): SQL[] {
  return [eq(sequences.namespace, name.namespace), eq(sequences.name, name.name)];
}

function versionCondition(version: WantedVersion): SQL[] {
  if (version === 'newest') return [];
  return [version === null ? eq(sequences.deprecated, false) : eq(sequences.version, version)];
}

async function selectSequences(
  driver: SqlDriver,
  tenantId: string | null,
  filters: readonly SQL[],
  limit: number,
  offset = 0,
): Promise<SequenceRecord[]> {
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select()
      .from(sequences)
      .where(and(ofTenant(sequences.tenantId, tenantId), ...filters))
      .orderBy(
        asc(sequences.tenantId),
        asc(sequences.namespace),
        asc(sequences.name),
        desc(sequences.version),
      )
      .limit(limit)
      .offset(offset),
  );
  return rows.map(readSequence);
}

/** Database time; every instant of a row comes from there. */
const now = sql<number>`stepwell.sw_now()`;

/** Nothing is written when either key is taken; which of them was is looked up afterwards. */
async function insertSequence(
  driver: SqlDriver,
  sequence: NewSequence,
): Promise<'created' | 'id_exists' | 'version_exists'> {
  const inserted = await askTables(driver, sequence.tenantId, (tables) =>
    tables
      .insert(sequences)
      .values({ ...sequence, createdAt: now })
      .onConflictDoNothing()
      .returning({ id: sequences.id }),
  );
  if (inserted.length > 0) return 'created';
  const [sameId] = await selectSequences(driver, null, [eq(sequences.id, sequence.id)], 1);
  return sameId === undefined ? 'version_exists' : 'id_exists';
}

async function deprecateSequence(driver: SqlDriver, tenantId: string | null, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const updated = await askTables(driver, tenantId, (tables) =>
    tables
      .update(sequences)
      .set({ deprecated: true })
      .where(and(ofTenant(sequences.tenantId, tenantId), eq(sequences.id, id)))
      .returning({ id: sequences.id }),
  );
  return updated.length > 0;
}

async function setSequenceStatus(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
  change: { readonly from: string; readonly to: string },
): Promise<'changed' | 'not_found' | 'stale'> {
  if (!isUuid(id)) return 'not_found';
  const updated = await askTables(driver, tenantId, (tables) =>
    tables
      .update(sequences)
      .set({ status: change.to, ...(change.to === 'unpublished' ? { deprecated: true } : {}) })
      .where(
        and(ofTenant(sequences.tenantId, tenantId), eq(sequences.id, id), eq(sequences.status, change.from)),
      )
      .returning({ id: sequences.id }),
  );
  if (updated.length > 0) return 'changed';
  const [present] = await selectSequences(driver, tenantId, [eq(sequences.id, id)], 1);
  return present === undefined ? 'not_found' : 'stale';
}

function asJson(value: Json): SQL<Json> {
  return sql<Json>`${JSON.stringify(value)}::jsonb`;
}

async function insertTrigger(driver: SqlDriver, trigger: NewTrigger): Promise<'created' | 'exists'> {
  const inserted = await askTables(driver, trigger.tenantId, (tables) =>
    tables
      .insert(triggers)
      // drizzle would write JSON null as no value at all.
      .values({ ...trigger, config: asJson(trigger.config), createdAt: now, updatedAt: now })
      .onConflictDoNothing()
      .returning({ slug: triggers.slug }),
  );
  return inserted.length > 0 ? 'created' : 'exists';
}

async function getTrigger(
  driver: SqlDriver,
  tenantId: string | null,
  slug: string,
): Promise<TriggerRecord | null> {
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select()
      .from(triggers)
      .where(and(ofTenant(triggers.tenantId, tenantId), eq(triggers.slug, slug))),
  );
  return rows[0] ?? null;
}

function listTriggers(
  driver: SqlDriver,
  tenantId: string | null,
  limit: number,
): Promise<readonly TriggerRecord[]> {
  return askTables(driver, tenantId, (tables) =>
    tables
      .select()
      .from(triggers)
      .where(ofTenant(triggers.tenantId, tenantId))
      .orderBy(asc(triggers.createdAt), asc(triggers.slug))
      .limit(limit),
  );
}

async function deleteTrigger(driver: SqlDriver, tenantId: string | null, slug: string): Promise<boolean> {
  const deleted = await askTables(driver, tenantId, (tables) =>
    tables
      .delete(triggers)
      .where(and(ofTenant(triggers.tenantId, tenantId), eq(triggers.slug, slug)))
      .returning({ slug: triggers.slug }),
  );
  return deleted.length > 0;
}
