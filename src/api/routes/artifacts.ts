import { notFound } from '../../engine/refusal.ts';
import { ok } from '../../core/result.ts';
import { defineRoute, okay } from '../route.ts';
import {
  ArtifactList,
  ArtifactPath,
  ArtifactQuery,
  MAX_FILE_BYTES,
  showArtifact,
} from '../schemas/artifact.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';

const tag = 'artifacts';

/** The bytes are a user's own: a browser is to save them and to run nothing of them (dashboard.md 14). */
const SAVED = {
  'content-disposition': 'attachment',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};

/** Artifacts of one answer. */
const MAX_LISTED = 1000;

const list = defineRoute({
  method: 'GET',
  path: '/instances/{id}/artifacts',
  tag,
  summary: 'Artifacts that steps of an instance have kept, by their keys',
  params: IdPath,
  query: NoParameters,
  responses: { 200: ArtifactList },
  handle: async ({ store }, { caller, path }) => {
    const found = await store.listBlobs(caller.tenantId, path.id, MAX_LISTED);
    if (found === null) return notFound('instance', path.id);
    return okay({ items: found.map((artifact) => showArtifact(path.id, artifact)) });
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/artifacts/{instance_id}/{artifact_id}',
  tag,
  summary: 'The bytes of an artifact, to be saved',
  params: ArtifactPath,
  query: ArtifactQuery,
  responses: { 200: null },
  media: '*/*',
  handle: async ({ store }, { caller, path, filter }) => {
    const { instance_id: instanceId, artifact_id: artifactId } = path;
    const owner = await store.getInstance(caller.tenantId, instanceId);
    const key = { tenantId: owner?.tenantId ?? '', instanceId };
    const blob = owner === null ? null : await store.getBlob(key, artifactId, MAX_FILE_BYTES);
    const content = blob?.bytes ?? null;
    if (content === null) return notFound('artifact', `${instanceId}/${artifactId}`);
    return ok({
      status: 200,
      bytes: { content, headers: { 'content-type': filter.content_type, ...SAVED } },
    });
  },
});

export const artifactRoutes = [list, get];
