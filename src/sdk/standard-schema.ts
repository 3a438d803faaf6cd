/**
 * The part of the Standard Schema interface (version 1) that we use. zod 4, valibot, arktype and others implement it, so
 * that a user's schema need not come from the zod that Stepwell itself depends on.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Only for the compiler; not there at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** Where a value breaks its schema, as failures show it: a JSON pointer and a text for people. */
export interface Violation {
  readonly pointer: string;
  readonly message: string;
}

/** Most violations kept in the details of a failure. */
const MAX_VIOLATIONS = 100;

export function violations(issues: readonly StandardIssue[]): Violation[] {
  return issues
    .slice(0, MAX_VIOLATIONS)
    .map(({ message, path }) => ({ pointer: pointer(path ?? []), message }));
}

function pointer(path: NonNullable<StandardIssue['path']>): string {
  return path.map((part) => `/${escaped(String(typeof part === 'object' ? part.key : part))}`).join('');
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
