import type { Json } from '../json.ts';

/**
 * What a text can see while it is evaluated (expressions.md 1.1). The caller decides what is visible: a step whose
 * `context_access` hides a field gives a scope without it ([TPL-2]).
 *
 * `items` holds the bindings of the enclosing `for_each` blocks, the inner one winning; each is also read as
 * `data.<name>` ([ITEM-1]). `error`, when given, is what `data._error` reads as ([CERR-2]). Both lie over `data` on
 * read, so that the stored value is neither copied nor changed.
 */
export interface Scope {
  readonly data: Json;
  readonly config: Json;
  /** Latest visible output by block id. */
  readonly outputs: ReadonlyMap<string, Json>;
  readonly instanceId: string;
  /** Made when a text asks for it, which few do. */
  readonly runtime: () => Json;
  /** The key/value store of the instance, without the reserved prefixes. */
  readonly state: ReadonlyMap<string, Json>;
  readonly items: ReadonlyMap<string, Json>;
  /** More names that templates may begin with, such as `step` of an interceptor ([INT-5]); they hide no key of `data`. */
  readonly roots?: ReadonlyMap<string, Json>;
  readonly error?: Json;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** A random UUID, version 4. */
  readonly uuid: () => string;
}
