import type { StepServices } from '../../src/ports/step-services.ts';
import type { NewBlob } from '../../src/ports/store/blobs.ts';
import { NO_SERVICES } from '../../src/sdk/worker/no-services.ts';

/** Artifacts in memory, as the store keeps them for one instance. */
export function artifactServices(): StepServices & { readonly stored: ReadonlyMap<string, NewBlob> } {
  const stored = new Map<string, NewBlob>();
  return {
    ...NO_SERVICES,
    stored,
    putBlob: async (blob) => void stored.set(blob.artifactId, blob),
    getBlob: async (artifactId, maxBytes) => {
      const found = stored.get(artifactId);
      if (found === undefined) return null;
      const { contentType, size, sha256, bytes } = found;
      return { contentType, size, sha256, bytes: size <= maxBytes ? bytes : null };
    },
  };
}
