import type { Json, JsonObject } from '../json.ts';

/** The context as `context_access` leaves it, for the handler, its templates and worker tasks ([ACC-1] to [ACC-4]). */
export interface ViewOfContext {
  readonly data: Json;
  readonly config: JsonObject;
  readonly audit: readonly Json[];
  readonly runtime: JsonObject;
}
