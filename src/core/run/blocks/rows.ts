import type { Json, JsonObject } from '../../json.ts';
import type { Frame } from '../frame.ts';

/** A failed item as it is stored aside. The frames are read back as they were written. */
export interface StoredItem {
  readonly runId: string;
  readonly error: JsonObject;
  readonly frames: readonly Frame[];
}

/** Frames hold JSON only: the store writes them as such. */
export function asJson(value: StoredItem): Json {
  return value as unknown as Json;
}

/** The border at which what `storeFailed` wrote comes back; nobody else writes under such a key. */
export function asStoredItem(value: Json): StoredItem {
  return value as unknown as StoredItem;
}
