import type { Json, JsonObject } from '../core/json.ts';
import type { Edit } from '../core/run/go-back/edit.ts';
import type { Refused } from '../core/run/go-back/refused.ts';
import type { InstanceState } from '../core/run/states.ts';

/** Going back to a block (20.2), as the caller asks for it. */
export interface ResumeOrder {
  readonly blockId: string;
  /** Path of the passes around the block, `outer:2/inner:0`; null for the last ones that were begun. */
  readonly iteration: string | null;
  readonly data: JsonObject;
  readonly edit: Edit | null;
  readonly signals: readonly { readonly id: string; readonly signalType: string; readonly payload: Json }[];
}

export type ResumeAnswer =
  | { readonly status: 'resumed'; readonly superseded: number; readonly iteration: string }
  | { readonly status: 'not_found' }
  | { readonly status: 'illegal'; readonly from: InstanceState }
  | { readonly status: 'refused'; readonly refused: Refused }
  /** A turn, or another command, held the instance, or a cancel is on its way through it. */
  | { readonly status: 'busy' };
