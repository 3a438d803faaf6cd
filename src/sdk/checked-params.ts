import type { BUILT_IN_PARAMS } from '../core/definition/built-in-params.ts';

/*
 * What the compiler says of the params of built-in handlers. The types come from the table that publishing warns by, so
 * that a param which nobody reads is an error where it is written. Only what is written in place is looked at: a block that
 * has been given the type `BlockDraft` has no handler to look for.
 */

type Table = typeof BUILT_IN_PARAMS;
type Params<Handler extends keyof Table> = Table[Handler]['params'];

/** A text with a template has a type that is known only when the step runs. */
type TemplateText = `${string}{{${string}`;

interface KindTypes {
  readonly text: string;
  readonly count: number;
  readonly boolean: boolean;
  readonly object: object;
  readonly list: readonly unknown[];
  readonly any: unknown;
}

type ValueOf<Facts> = Facts extends { readonly anyCase: true }
  ? string
  : Facts extends { readonly values: readonly (infer Value)[] }
    ? Value | TemplateText
    : Facts extends { readonly kinds: readonly (infer Kind extends keyof KindTypes)[] }
      ? KindTypes[Kind] | TemplateText
      : never;

/** Params that the handler needs; of a group of which one is enough, none is. */
type Needed<Handler extends keyof Table> = Table[Handler]['needs'][number] extends infer Group
  ? Group extends readonly [infer Name extends keyof Params<Handler>]
    ? Name
    : never
  : never;

/** Nothing is of these types: their names stand in the compiler's message at the param that is wrong. */
interface NoSuchParam<Handler, Name> {
  readonly 'the handler': Handler;
  readonly 'has no param': Name;
}
interface ParamTakes<Value> {
  readonly 'the param takes': Value;
}

type KnownParams<Handler extends keyof Table, Given> = {
  readonly [Name in keyof Given]: Name extends keyof Params<Handler>
    ? Fitting<Given[Name], ValueOf<Params<Handler>[Name]> | (Name extends Needed<Handler> ? never : null)>
    : NoSuchParam<Handler, Name>;
};

type Fitting<Given, Value> = Given extends Value ? unknown : ParamTakes<Value>;

type NeededParams<Handler extends keyof Table, Given> = {
  readonly [Name in Exclude<Needed<Handler>, keyof Given>]: ValueOf<Params<Handler>[Name]>;
};

type CheckedStep<Step, Handler extends keyof Table> = Table[Handler] extends { readonly open: true }
  ? unknown
  : Step extends { readonly fallback_handler: string }
    ? // Another handler reads the same params.
      { readonly params?: unknown }
    : Step extends { readonly params: infer Given }
      ? {
          readonly params: Given extends TemplateText
            ? unknown
            : KnownParams<Handler, Given> & NeededParams<Handler, Given>;
        }
      : [Needed<Handler>] extends [never]
        ? unknown
        : { readonly params: NeededParams<Handler, unknown> };

/** Members that hold blocks, or objects that do. */
type Structure =
  | 'blocks'
  | 'on_failure'
  | 'on_cancel'
  | 'branches'
  | 'routes'
  | 'default'
  | 'try_block'
  | 'catch_block'
  | 'finally_block'
  | 'body'
  | 'variants'
  | 'steps'
  | 'action'
  | 'compensation';

/** What a draft has to fit besides its shape: `draft: Draft & WithKnownParams<Draft>`. */
export type WithKnownParams<Part> = Part extends readonly unknown[]
  ? { readonly [Index in keyof Part]: WithKnownParams<Part[Index]> }
  : Part extends { readonly type: 'step'; readonly handler: infer Handler }
    ? Handler extends keyof Table
      ? Part & CheckedStep<Part, Handler>
      : Part
    : Part extends object
      ? { readonly [Name in keyof Part]: Name extends Structure ? WithKnownParams<Part[Name]> : Part[Name] }
      : Part;
