/** An answer of the database that is no value of ours, with its SQLSTATE. */
export class SqlError extends Error {
  readonly code: string;
  readonly constraint: string | null;
  constructor(
    message: string,
    options: { readonly code: string; readonly constraint: string | null; readonly cause: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = 'SqlError';
    this.code = options.code;
    this.constraint = options.constraint;
  }
}
