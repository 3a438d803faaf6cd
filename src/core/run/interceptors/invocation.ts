import type { Interceptor } from '../../definition/document.ts';
import type { JsonObject } from '../../json.ts';

/** An interceptor that is really called ([INT-5]): the engine carries it out before the commit and fills its row. */
export interface Invocation {
  readonly rowId: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly attempt: number;
  readonly interceptor: Interceptor;
  /** Roots of its templates beside the usual ones. */
  readonly roots: JsonObject;
}
