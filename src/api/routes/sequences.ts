import type * as z from 'zod';
import { MAX_DOCUMENT_JSON_DEPTH } from '../../core/definition/bounds.ts';
import { jsonObject, type JsonObject, mergeObjects } from '../../core/json.ts';
import { ok, type Result } from '../../core/result.ts';
import { publishSequence } from '../../engine/publish-sequence.ts';
import { notFound, refuse, type Refusal } from '../../engine/refusal.ts';
import { deleteSequence, deprecateSequence, setSequenceStatus } from '../../engine/sequence-lifecycle.ts';
import type { Caller } from '../../engine/use-case.ts';
import type { SequenceName, SequenceRecord } from '../../ports/store/catalog.ts';
import type { Store } from '../../ports/store/store.ts';
import { created, defineBodyRoute, defineRoute, noContent, okay } from '../route.ts';
import { sequenceReleaseRoutes } from './sequence-releases.ts';
import { IdPath, NoParameters, SequenceInput } from '../schemas/wire-values.ts';
import {
  PublishedBody,
  SequenceBody,
  SequenceList,
  SequenceListQuery,
  SequenceNameQuery,
  SequencePage,
  SequenceQuery,
  SequenceVersionsQuery,
  showSequence,
  StatusBody,
} from '../schemas/sequence.ts';

const tag = 'sequences';

const publish = defineBodyRoute({
  method: 'POST',
  path: '/sequences',
  tag,
  summary: 'Publish a version of a sequence',
  params: NoParameters,
  query: NoParameters,
  body: SequenceInput,
  bodyDepth: MAX_DOCUMENT_JSON_DEPTH,
  responses: { 201: PublishedBody },
  handle: async (deps, { caller, body }) => {
    const published = await publishSequence(deps, caller, body);
    if (!published.ok) return published;
    const { id, warnings } = published.value;
    if (warnings.length === 0) return created({ id });
    const details: readonly JsonObject[] = warnings.map((warning) => jsonObject(Object.entries(warning)));
    return created({ id, warnings: warnings.map(({ message }) => message), warning_details: details });
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/sequences',
  tag,
  summary: 'List versions, one page at a time',
  params: NoParameters,
  query: SequenceQuery,
  responses: { 200: SequencePage },
  handle: async ({ store }, { caller, filter }) => {
    const { namespace, name, limit, offset } = filter;
    const tenantId = caller.tenantId ?? filter.tenant_id;
    const rows = await store.listSequences({ tenantId, namespace, name, limit: limit + 1, offset });
    const items = await showVersions(store, rows.slice(0, limit), filter.live_runs);
    return okay({ items, has_more: rows.length > limit });
  },
});

/** The most versions that are listed without pages. */
const MAX_UNPAGED = 1000;

const listAll = defineRoute({
  method: 'GET',
  path: '/sequences.json',
  tag,
  summary: 'List versions as a bare array',
  inParts: '/sequences',
  params: NoParameters,
  query: SequenceListQuery,
  responses: { 200: SequenceList },
  handle: async ({ store }, { caller, filter }) => {
    const tenantId = caller.tenantId ?? filter.tenant_id;
    const { namespace, name } = filter;
    const records = await store.listSequences({ tenantId, namespace, name, limit: MAX_UNPAGED, offset: 0 });
    return okay(await showVersions(store, records, filter.live_runs));
  },
});

const byName = defineRoute({
  method: 'GET',
  path: '/sequences/by-name',
  tag,
  summary: 'Look a version up by name',
  params: NoParameters,
  query: SequenceNameQuery,
  responses: { 200: SequenceBody },
  handle: async ({ store }, { caller, filter }) => {
    const name = nameOf(caller, filter);
    if (!name.ok) return name;
    const record = await store.findSequence({ ...name.value, version: filter.version ?? null });
    return record === null ? notFound('sequence', filter.name) : okay(showSequence(record));
  },
});

const versions = defineRoute({
  method: 'GET',
  path: '/sequences/versions',
  tag,
  summary: 'List the versions of a name that are not deprecated',
  inParts: '/sequences',
  params: NoParameters,
  query: SequenceVersionsQuery,
  responses: { 200: SequenceList },
  handle: async ({ store }, { caller, filter }) => {
    const name = nameOf(caller, filter);
    if (!name.ok) return name;
    return okay(await showVersions(store, await store.listVersions(name.value), filter.live_runs));
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/sequences/{id}',
  tag,
  summary: 'Get a version',
  params: IdPath,
  query: NoParameters,
  responses: { 200: SequenceBody },
  handle: async ({ store }, { caller, path }) => {
    const record = await store.getSequence(caller.tenantId, path.id);
    return record === null ? notFound('sequence', path.id) : okay(showSequence(record));
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/sequences/{id}',
  tag,
  summary: 'Delete a version and its ended instances',
  params: IdPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async (deps, { caller, path }) => {
    const deleted = await deleteSequence(deps, caller, path.id);
    return deleted.ok ? noContent : deleted;
  },
});

const deprecate = defineRoute({
  method: 'POST',
  path: '/sequences/{id}/deprecate',
  tag,
  summary: 'Hide a version from look-up by name',
  params: IdPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async (deps, { caller, path }) => {
    const deprecated = await deprecateSequence(deps, caller, path.id);
    return deprecated.ok ? noContent : deprecated;
  },
});

const setStatus = defineBodyRoute({
  method: 'POST',
  path: '/sequences/{id}/status',
  tag,
  summary: 'Move a version to another status',
  params: IdPath,
  query: NoParameters,
  body: StatusBody,
  responses: { 204: null },
  handle: async (deps, { caller, path, body }) => {
    const changed = await setSequenceStatus(deps, caller, path.id, body.status);
    return changed.ok ? noContent : changed;
  },
});

export const sequenceRoutes = [
  publish,
  list,
  listAll,
  byName,
  versions,
  get,
  remove,
  deprecate,
  setStatus,
  ...sequenceReleaseRoutes,
];

/** Live runs of one version are counted up to this number. */
const COUNTED_TO = 10_000;

/** The documents; when asked for with the number of instances that have not ended (dashboard.md A15). */
async function showVersions(
  store: Pick<Store, 'countLiveRuns'>,
  records: readonly SequenceRecord[],
  hasCounts: boolean,
): Promise<readonly JsonObject[]> {
  if (!hasCounts) return records.map(showSequence);
  const counts = await store.countLiveRuns(
    records.map(({ id }) => id),
    COUNTED_TO,
  );
  return records.map((record, index) =>
    mergeObjects(showSequence(record), { live_runs: counts[index] ?? 0 }),
  );
}

/** The caller's tenant replaces the parameter, which is required only without it. */
function nameOf(caller: Caller, filter: z.output<typeof SequenceNameQuery>): Result<SequenceName, Refusal> {
  const tenantId = caller.tenantId ?? filter.tenant_id;
  if (tenantId === null)
    return refuse('invalid_argument', 'missing field `tenant_id`', { code: 'invalid_shape' });
  return ok({ tenantId, namespace: filter.namespace, name: filter.name });
}
