import type { Json } from '../json.ts';
import type { Fault } from './language-error.ts';
import { type Evaluation, readPath, walk } from './paths.ts';
import type { Target } from './template-syntax.ts';

/** What a target leads to now. `no_root`: its first name is bound by no `for_each` here. */
export type Found =
  | { readonly kind: 'value'; readonly value: Json | undefined }
  | { readonly kind: 'no_root' }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** Reads a target of a template; a missing value is undefined and no fault ([MODE-3]). */
export function readTarget(target: Target, evaluation: Evaluation): Found {
  switch (target.kind) {
    case 'path':
      return { kind: 'value', value: readPath(target.path, evaluation) };
    case 'broken':
      return { kind: 'fault', fault: target.fault };
    case 'item': {
      const { items, roots } = evaluation.scope;
      // A binding may be null, and hides the root of its name all the same.
      const item = items.has(target.name) ? items.get(target.name) : roots?.get(target.name);
      return item === undefined ? { kind: 'no_root' } : { kind: 'value', value: walk(item, target.segments) };
    }
  }
}
