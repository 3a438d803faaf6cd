import * as z from 'zod';
import type { ListedBlob } from '../../ports/store/blobs.ts';
import { Uuid } from './wire-values.ts';

/** Larger artifacts are never stored (handlers.md 9). */
export const MAX_FILE_BYTES = 26_214_400;

const ArtifactBody = z.object({
  key: z.string(),
  size: z.int(),
  uri: z.string(),
  content_type: z.string(),
  sha256: z.string(),
});
export const ArtifactList = z.object({ items: z.array(ArtifactBody) });

export const ArtifactPath = z.object({ instance_id: Uuid, artifact_id: z.string() });

/** A media type and its parameters, in the characters that a header may have. */
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=(?:[\w.+-]+|"[\w .+-]*"))*$/;

export const ArtifactQuery = z.object({
  content_type: z
    .string()
    .max(255)
    .regex(MEDIA_TYPE, { error: 'expected a media type' })
    .default('application/octet-stream'),
});

export function showArtifact(instanceId: string, blob: ListedBlob): z.infer<typeof ArtifactBody> {
  const key = `${instanceId}/${blob.artifactId}`;
  return {
    key,
    size: blob.size,
    uri: `artifact://${key}`,
    content_type: blob.contentType,
    sha256: blob.sha256,
  };
}
