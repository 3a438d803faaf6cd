import type { CatalogStore, SequenceRecord } from '../../ports/store/catalog.ts';
import { call, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const DELETE_SEQUENCE = 'SELECT stepwell.delete_sequence_v1($1, $2)';

const SEQUENCE = `
SELECT json_build_object('id', id, 'tenantId', tenant_id, 'namespace', namespace, 'name', name, 'version', version,
  'status', status, 'deprecated', deprecated, 'definition', definition, 'contentHash', content_hash,
  'createdAt', stepwell.to_ms(created_at))
FROM stepwell.sequences WHERE ($1::text IS NULL OR tenant_id = $1) AND id = $2`;

/** Versions by id, which turns read, stand here; all else is loaded when it is first asked for (see store.ts). */
export function createCatalogStore(driver: SqlDriver): CatalogStore {
  const tables = async () => (await import('./catalog-tables.ts')).createCatalogTables(driver);
  return {
    async getSequence(tenantId, id) {
      if (!isUuid(id)) return null;
      return (
        answerOf<SequenceRecord | undefined>(await tenantCall(driver, tenantId, SEQUENCE, [tenantId, id])) ??
        null
      );
    },
    async deleteSequence(tenantId, id) {
      if (!isUuid(id)) return 'not_found';
      return answerOf(await call(driver, DELETE_SEQUENCE, [tenantId, id]));
    },
    insertSequence: async (sequence) => (await tables()).insertSequence(sequence),
    publishDeployed: async (sequence) => (await tables()).publishDeployed(sequence),
    findSequence: async (name) => (await tables()).findSequence(name),
    listSequences: async (query) => (await tables()).listSequences(query),
    listVersions: async (name) => (await tables()).listVersions(name),
    deprecateSequence: async (tenantId, id) => (await tables()).deprecateSequence(tenantId, id),
    setSequenceStatus: async (tenantId, id, from, to) =>
      (await tables()).setSequenceStatus(tenantId, id, from, to),
    insertTrigger: async (trigger) => (await tables()).insertTrigger(trigger),
    getTrigger: async (tenantId, slug) => (await tables()).getTrigger(tenantId, slug),
    listTriggers: async (tenantId, limit) => (await tables()).listTriggers(tenantId, limit),
    deleteTrigger: async (tenantId, slug) => (await tables()).deleteTrigger(tenantId, slug),
  };
}
