import { isDotSegment } from '../core/dot-segments.ts';
import { ok, type Result } from '../core/result.ts';
import type { NewPlugin, PluginPatch, PluginRecord } from '../ports/store/plugins.ts';
import { notFound, refuse, type Refusal, type Refused, unreachable } from './refusal.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

const MAX_NAME_LENGTH = 255;
const MAX_SOURCE_LENGTH = 2048;

/** A plugin as it is asked for; an empty tenant stands for that of the call, or for none. */
export type PluginInput = Omit<NewPlugin, 'enabled'>;

/** Keeps a plugin (http-api.md 18): 403 other tenant, 400 broken rule, 409 the name is taken. */
export async function createPlugin(
  deps: UseCaseDeps,
  caller: Caller,
  input: PluginInput,
): Promise<Result<PluginRecord, Refusal>> {
  const named = input.tenantId === '' ? (caller.tenantId ?? '') : input.tenantId;
  const tenantId = named === '' ? ok('') : tenantOf(caller, named);
  if (!tenantId.ok) return tenantId;
  if (input.name.trim() === '') return refuse('invalid_argument', 'name must not be empty');
  if (input.name.length > MAX_NAME_LENGTH)
    return refuse('invalid_argument', `name must not exceed ${MAX_NAME_LENGTH} characters`);
  if (isDotSegment(input.name)) return unreachable('name');
  const broken = brokenSource(input.source);
  if (broken !== null) return broken;
  if (!(await deps.store.insertPlugin({ ...input, tenantId: tenantId.value, enabled: true })))
    return refuse('already_exists', `plugin ${input.name}`);
  const stored = await deps.store.getPlugin(tenantId.value, input.name);
  return stored === null ? notFound('plugin', input.name) : ok(stored);
}

/** What is not given stays. 404 unknown, 400 broken rule. */
export async function changePlugin(
  deps: UseCaseDeps,
  caller: Caller,
  name: string,
  patch: PluginPatch,
): Promise<Result<PluginRecord, Refusal>> {
  const known = await deps.store.getPlugin(caller.tenantId, name);
  if (known === null) return notFound('plugin', name);
  const broken = brokenSource(patch.source ?? known.source);
  if (broken !== null) return broken;
  const changed = await deps.store.updatePlugin(known.tenantId, name, patch);
  return changed === null ? notFound('plugin', name) : ok(changed);
}

/** 404 unknown. */
export async function removePlugin(
  deps: UseCaseDeps,
  caller: Caller,
  name: string,
): Promise<Result<null, Refusal>> {
  const known = await deps.store.getPlugin(caller.tenantId, name);
  const isGone = known !== null && (await deps.store.deletePlugin(known.tenantId, name));
  return isGone ? ok(null) : notFound('plugin', name);
}

function brokenSource(source: string): Refused | null {
  if (source.trim() === '') return refuse('invalid_argument', 'source must not be empty');
  if (source.length <= MAX_SOURCE_LENGTH) return null;
  return refuse('invalid_argument', `source must not exceed ${MAX_SOURCE_LENGTH} characters`);
}
