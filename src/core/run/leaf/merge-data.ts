import type { Failure } from '../../failure.ts';
import {
  type Json,
  type JsonObject,
  canonicalJson,
  isJsonObject,
  mergeObjects,
  utf8Bytes,
} from '../../json.ts';
import type { Draft } from '../draft.ts';

/** [DISP-3], [DISP-4]: the members of a worker's object are merged into data, or nothing is and the attempt fails. */
export function mergeWorkerOutput(draft: Draft, output: Json): Failure | null {
  if (!isJsonObject(output) || setDataWithin(draft, output)) return null;
  return { message: 'the context would become too large', retryable: false, code: 'CONTEXT_TOO_LARGE' };
}

/** Sets keys of data unless the context would pass its limit ([CTX-1]); false leaves everything as it was. */
export function setDataWithin(draft: Draft, keys: JsonObject): boolean {
  const limit = draft.env.maxContextBytes;
  const { data, config, audit } = draft.record;
  const next = { data: mergeObjects(isJsonObject(data) ? data : {}, keys), config, audit };
  if (limit > 0 && utf8Bytes(canonicalJson(next)) > limit) return false;
  draft.instance.setData(keys);
  return true;
}
