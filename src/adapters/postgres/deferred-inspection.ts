import type { InspectionStore } from '../../ports/store/inspection.ts';
import type { SqlDriver } from './driver.ts';

/** What people look at, and turns do not: it is loaded when it is asked for (see store.ts). */
export function createDeferredInspectionStore(driver: SqlDriver): InspectionStore {
  const inspection = async (): Promise<InspectionStore> => {
    const { createInspectionStore } = await import('./inspection.ts');
    return createInspectionStore(driver);
  };
  return {
    getSurroundings: async (request) => (await inspection()).getSurroundings(request),
    listSignals: async (query) => (await inspection()).listSignals(query),
    getStartInput: async (tenantId, id) => (await inspection()).getStartInput(tenantId, id),
    listStanding: async (tenantId, ids, perInstance) =>
      (await inspection()).listStanding(tenantId, ids, perInstance),
    listConcurrencyKeys: async (query) => (await inspection()).listConcurrencyKeys(query),
  };
}
