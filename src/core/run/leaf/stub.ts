import type { Json, JsonObject } from '../../json.ts';

/** What stands for the result of a handler that a dry run does not call ([DRY-1]). */
export function stubOf(handler: string, params: Json): JsonObject {
  return { dry_run: true, handler, would: { params } };
}
