/**
 * Reads that bring no more into a process than it can hold: tenants store what they like, and may ask for all of it at once.
 * `S` is the store itself.
 */
export interface BoundedReads<S> {
  /**
   * The same store for reads, of which none brings more than `maxBytes` of JSON: one that would rejects with `ReadTooLarge`,
   * and has brought nothing of it. What is one value by its id (`getBlob`, `getOutput`) comes whatever its
   * size, and `pageInstances` has its own bound.
   */
  withinBytes(maxBytes: number): S;
}

/** A read of a bounded store has found more than it may bring. Whoever asked has to ask for less. */
export class ReadTooLarge extends Error {
  readonly maxBytes: number;
  constructor(maxBytes: number) {
    super(`a read has found more than ${maxBytes} bytes`);
    this.name = 'ReadTooLarge';
    this.maxBytes = maxBytes;
  }
}
