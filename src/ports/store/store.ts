import type { AcceptStore } from './accept.ts';
import type { CatalogStore } from './catalog.ts';
import type { ChangeStore } from './changes.ts';
import type { HandlerNameStore } from './handler-names.ts';
import type { ReadStore } from './reads.ts';
import type { TurnStore } from './turn.ts';

/**
 * The store contract: few coarse operations, each one statement or one round trip, each one fault point. The same suite
 * (test/store-contract) runs over every adapter. Lost IO rejects with `StoreUnavailable`; everything else is a value.
 */
export interface Store
  extends TurnStore,
    AcceptStore,
    CatalogStore,
    ChangeStore,
    HandlerNameStore,
    ReadStore {
  close(): Promise<void>;
}

/**
 * The database did not answer, or answered that it can not now. `unknown` is true when the statement may have been
 * carried out (RULINGS A8): the caller must find out by reading or by sending the same bytes again.
 */
export class StoreUnavailable extends Error {
  readonly unknown: boolean;
  constructor(message: string, options: { readonly unknown: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'StoreUnavailable';
    this.unknown = options.unknown;
  }
}
