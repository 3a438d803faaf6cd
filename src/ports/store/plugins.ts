import type { Json } from '../../core/json.ts';

/** Plugins by name (http-api.md 18), kept for what will run them. */
export interface PluginStore {
  /** False: the tenant has a plugin with this name already. */
  insertPlugin(plugin: NewPlugin): Promise<boolean>;
  /** `tenantId` null: an administrator; the name alone counts, the first tenant's by name. */
  getPlugin(tenantId: string | null, name: string): Promise<PluginRecord | null>;
  /** By name, then tenant. */
  listPlugins(query: {
    readonly tenantId: string | null;
    readonly pluginType: PluginType | null;
    readonly limit: number;
  }): Promise<readonly PluginRecord[]>;
  /** Replaces the members that are given; null when there is no such plugin. */
  updatePlugin(tenantId: string, name: string, patch: PluginPatch): Promise<PluginRecord | null>;
  deletePlugin(tenantId: string, name: string): Promise<boolean>;
}

export const PLUGIN_TYPES = ['wasm', 'grpc'] as const;
export type PluginType = (typeof PLUGIN_TYPES)[number];

export interface NewPlugin {
  readonly name: string;
  /** Empty for one of no tenant. */
  readonly tenantId: string;
  readonly pluginType: PluginType;
  readonly source: string;
  readonly enabled: boolean;
  readonly config: Json;
  readonly description: string | null;
}

export interface PluginRecord extends NewPlugin {
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type PluginPatch = Partial<Pick<NewPlugin, 'source' | 'config' | 'enabled' | 'description'>>;
