import { compareCodePoints } from '../../core/json.ts';
import type { PluginRecord, PluginStore } from '../../ports/store/plugins.ts';
import type { Run, Tx } from './database.ts';
import { stored } from './rows.ts';

const keyOf = (tenantId: string, name: string): string => JSON.stringify([tenantId, name]);

export function pluginPart(run: Run): PluginStore {
  return {
    insertPlugin: (plugin) =>
      run((tx) => {
        const key = keyOf(plugin.tenantId, plugin.name);
        if (tx.db.plugins.has(key)) return false;
        tx.db.plugins.put(key, stored({ ...plugin, createdAt: tx.t, updatedAt: tx.t }));
        return true;
      }),
    getPlugin: (tenantId, name) =>
      run((tx) => ofTenant(tx, tenantId).find((row) => row.name === name) ?? null),
    listPlugins: ({ tenantId, pluginType, limit }) =>
      run((tx) =>
        ofTenant(tx, tenantId)
          .filter((row) => pluginType === null || row.pluginType === pluginType)
          .slice(0, limit),
      ),
    updatePlugin: (tenantId, name, patch) =>
      run((tx) => {
        const row = tx.db.plugins.get(keyOf(tenantId, name));
        if (row === undefined) return null;
        const next = stored({ ...row, ...patch, updatedAt: tx.t });
        tx.db.plugins.put(keyOf(tenantId, name), next);
        return next;
      }),
    deletePlugin: (tenantId, name) =>
      run((tx) => {
        const isKnown = tx.db.plugins.has(keyOf(tenantId, name));
        tx.db.plugins.remove(keyOf(tenantId, name));
        return isKnown;
      }),
  };
}

function ofTenant(tx: Tx, tenantId: string | null): PluginRecord[] {
  return tx.db.plugins
    .values()
    .filter((row) => tenantId === null || row.tenantId === tenantId)
    .sort((a, b) => compareCodePoints(a.name, b.name) || compareCodePoints(a.tenantId, b.tenantId));
}
