import type { TypeShape } from './type-shape.ts';

/** What bindings are made from: the shape of the input, and that of each block's output, sorted by block id. */
export interface BindingSource {
  readonly input: TypeShape;
  readonly outputs: readonly { readonly name: string; readonly shape: TypeShape }[];
}
