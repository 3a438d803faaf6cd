import * as z from 'zod';
import type { PluginInput } from '../../engine/plugins.ts';
import { PLUGIN_TYPES, type PluginPatch, type PluginRecord } from '../../ports/store/plugins.ts';
import { FilterParameter, JsonValue, limitParameter, optional, Timestamp, timestamp } from './wire-values.ts';

const PluginType = z.enum(PLUGIN_TYPES);

/** Body of `POST /plugins` (http-api.md 18); blank texts are rules of the use case (400). */
export const PluginBody = z
  .object({
    name: z.string(),
    plugin_type: PluginType,
    source: z.string(),
    tenant_id: optional(z.string()),
    config: JsonValue.exactOptional(),
    description: optional(z.string()),
  })
  .transform(
    (body): PluginInput => ({
      name: body.name,
      tenantId: body.tenant_id ?? '',
      pluginType: body.plugin_type,
      source: body.source,
      config: body.config ?? null,
      description: body.description,
    }),
  );

/** Absent members stay; null clears what may be null. */
export const PluginPatchBody = z
  .object({
    source: z.string().exactOptional(),
    config: JsonValue.exactOptional(),
    enabled: z.boolean().exactOptional(),
    description: z.string().nullable().exactOptional(),
  })
  .transform((body): PluginPatch => body);

export const PluginShown = z.object({
  name: z.string(),
  plugin_type: PluginType,
  source: z.string(),
  tenant_id: z.string(),
  enabled: z.boolean(),
  config: JsonValue,
  description: z.string().exactOptional(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const PluginList = z.array(PluginShown);

export const PluginPath = z.object({ name: z.string() });
export const PluginQuery = z.object({
  tenant_id: FilterParameter,
  plugin_type: FilterParameter.pipe(PluginType.nullable()),
  limit: limitParameter(100, 1000),
});

export function showPlugin(plugin: PluginRecord): z.infer<typeof PluginShown> {
  return {
    name: plugin.name,
    plugin_type: plugin.pluginType,
    source: plugin.source,
    tenant_id: plugin.tenantId,
    enabled: plugin.enabled,
    config: plugin.config,
    ...(plugin.description === null ? {} : { description: plugin.description }),
    created_at: timestamp(plugin.createdAt),
    updated_at: timestamp(plugin.updatedAt),
  };
}
