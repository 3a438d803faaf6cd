/** A part of a list, by the place of its first entry. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}
