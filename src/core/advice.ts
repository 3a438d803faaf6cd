/** Something a person has to put right: what is wrong, and what to do next. */
export interface Advice {
  readonly message: string;
  readonly next: string;
}
