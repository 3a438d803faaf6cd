import type { Json } from '../json.ts';
import type { Path } from './paths.ts';

export type CompareOperator = '==' | '!=' | '>' | '>=' | '<' | '<=';
export type ArithmeticOperator = '+' | '-' | '*' | '/';

/**
 * A parsed expression. Chains of operators of one rank are flat lists, so that the depth of a tree is bounded by the
 * level limit alone and evaluation cannot exhaust the stack.
 */
export type Expression =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'list'; readonly elements: readonly Expression[] }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'negative'; readonly operand: Expression }
  | { readonly kind: 'any'; readonly operands: readonly Expression[] }
  | { readonly kind: 'all'; readonly operands: readonly Expression[] }
  | { readonly kind: 'arithmetic'; readonly first: Expression; readonly rest: readonly ArithmeticStep[] }
  | {
      readonly kind: 'compare';
      readonly operator: CompareOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'within'; readonly element: Expression; readonly list: Expression }
  | {
      readonly kind: 'choice';
      readonly condition: Expression;
      readonly whenTrue: Expression;
      readonly whenFalse: Expression;
    };

export interface ArithmeticStep {
  readonly operator: ArithmeticOperator;
  readonly operand: Expression;
}
