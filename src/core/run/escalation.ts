import type { Json } from '../json.ts';

/** Somebody is to be told of a breach or of an expired gate ([DL-3], [HI-10]). */
export interface Escalation {
  readonly handler: string;
  readonly params: Json;
  readonly blockId: string;
  readonly iteration: string;
}
