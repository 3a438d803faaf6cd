import { sha256HexOfBytes, sha256Hex } from '../../core/digest.ts';
import type { Failure } from '../../core/failure.ts';
import { isJsonObject, type Json, member } from '../../core/json.ts';
import type { Header } from '../../core/network/outbound-headers.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { lineText } from '../../core/storable-text.ts';
import type { StepCall } from '../../ports/step-handler.ts';
import { fromStore, permanent } from './outcomes.ts';
import { invalidParams } from './params.ts';

/** Default and ceiling of one artifact (handlers.md 9). */
export const MAX_ARTIFACT_BYTES = 26_214_400;

/** How results name an artifact. */
export interface ArtifactReference {
  readonly [member: string]: Json;
  readonly key: string;
  readonly content_type: string;
  readonly size: number;
  readonly sha256: string;
}

/** The same for all attempts of one step in one pass. */
export function artifactIdOf(call: StepCall): string {
  return sha256Hex(`artifact:${call.idempotencyKey}`).slice(0, 32);
}

/** Stores the answer of a request under its content type. */
export async function storeArtifact(
  handler: string,
  call: StepCall,
  artifactId: string,
  answer: { readonly headers: readonly Header[]; readonly body: Uint8Array },
): Promise<Result<ArtifactReference, Failure>> {
  const type = answer.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return putArtifact(handler, call, artifactId, lineText(type ?? 'application/octet-stream'), answer.body);
}

export async function putArtifact(
  handler: string,
  call: StepCall,
  artifactId: string,
  contentType: string,
  bytes: Uint8Array,
): Promise<Result<ArtifactReference, Failure>> {
  if (bytes.length > MAX_ARTIFACT_BYTES) {
    const message = `${handler}: ${bytes.length} bytes are too large, limit ${MAX_ARTIFACT_BYTES}`;
    return err(permanent('RESPONSE_TOO_LARGE', message));
  }
  const facts = { contentType, size: bytes.length, sha256: sha256HexOfBytes(bytes) };
  const stored = await fromStore(() => call.services.putBlob({ artifactId, ...facts, bytes }));
  if (!stored.ok) return stored;
  const key = `${call.instanceId}/${artifactId}`;
  return ok({ key, content_type: contentType, size: facts.size, sha256: facts.sha256 });
}

export interface LoadedArtifact {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The bytes behind a key, a reference, or `{"artifact": reference}`; only those of this instance. */
export async function loadArtifact(
  handler: string,
  call: StepCall,
  param: string,
  maxBytes: number,
): Promise<Result<LoadedArtifact, Failure>> {
  const key = keyOf(member(call.params, param));
  if (key === null) return err(invalidParams(handler, param, 'must be a key or an artifact reference'));
  const slash = key.indexOf('/');
  if (slash < 0)
    return err(invalidParams(handler, param, 'must be a key of the form <instance id>/<artifact id>'));
  if (key.slice(0, slash) !== call.instanceId)
    return err(permanent('FORBIDDEN', `${handler}: the artifact belongs to another instance`));
  const found = await fromStore(() => call.services.getBlob(key.slice(slash + 1), maxBytes));
  if (!found.ok) return found;
  if (found.value === null)
    return err(permanent('TARGET_NOT_FOUND', `${handler}: there is no artifact ${lineText(key)}`));
  const { bytes, size, contentType } = found.value;
  if (bytes !== null) return ok({ contentType, bytes });
  return err(
    permanent('RESPONSE_TOO_LARGE', `${handler}: the artifact has ${size} bytes, limit ${maxBytes}`),
  );
}

export function keyOf(value: Json | undefined): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  if (!isJsonObject(value)) return null;
  const key = value['key'] ?? member(value['artifact'] ?? null, 'key');
  return typeof key === 'string' && key !== '' ? key : null;
}
