import type { InstanceKey } from './reads.ts';

/** Where artifacts are kept (handlers.md 9). The store of the instances is one; another may stand beside it. */
export interface BlobStore {
  /** Writes an artifact of an instance; one that is there already is replaced. */
  putBlob(key: InstanceKey, blob: NewBlob): Promise<void>;
  /** null: there is none. `bytes` is null when it is larger than `maxBytes`: then it is not loaded. */
  getBlob(key: InstanceKey, artifactId: string, maxBytes: number): Promise<FoundBlob | null>;
  /** The artifacts of an instance without their bytes, in the order of their ids. null: no such instance. */
  listBlobs(
    tenantId: string | null,
    instanceId: string,
    limit: number,
  ): Promise<readonly ListedBlob[] | null>;
}

export interface BlobFacts {
  readonly contentType: string;
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface ListedBlob extends BlobFacts {
  readonly artifactId: string;
}

export interface NewBlob extends BlobFacts {
  readonly artifactId: string;
  readonly bytes: Uint8Array;
}

export interface FoundBlob extends BlobFacts {
  readonly bytes: Uint8Array | null;
}
