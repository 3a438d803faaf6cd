import { NULL_LITERAL } from './parser.ts';
import { type Path, rootedPath } from './paths.ts';
import type { Expression } from './syntax-tree.ts';

/** The path of a word: a bare one reads under `context.data`, `state` included (1.1). */
export function expressionPath(word: string): Path {
  const names = word.split('.');
  if (names[0] === 'state') return { root: 'data', segments: names };
  const rooted = rootedPath(names);
  switch (rooted.kind) {
    case 'path':
      return rooted.path;
    case 'unknown_section':
      return { root: 'nothing', segments: [] };
    case 'no_root':
      return { root: 'data', segments: names };
  }
}

/**
 * `get(outputs, 'my-step', 'v')` becomes the path it means: literal names select exactly as segments do. The whole
 * root is then neither copied nor counted among the references of the text.
 */
export function foldGet(args: readonly Expression[]): Expression {
  let target = args[0];
  let used = 1;
  for (const key of args.slice(1)) {
    if (target?.kind !== 'path' || key.kind !== 'literal' || typeof key.value !== 'string') break;
    const { root, segments } = target.path;
    target = { kind: 'path', path: { root, segments: [...segments, key.value] } };
    used += 1;
  }
  if (target === undefined) return NULL_LITERAL;
  return used === args.length ? target : { kind: 'call', name: 'get', args: [target, ...args.slice(used)] };
}
