import type { Path } from './paths.ts';
import type { Expression } from './syntax-tree.ts';

/** All paths of an expression. */
export function expressionPaths(node: Expression): readonly Path[] {
  if (node.kind === 'path') return [node.path];
  return children(node).flatMap(expressionPaths);
}

function children(node: Exclude<Expression, { kind: 'path' }>): readonly Expression[] {
  switch (node.kind) {
    case 'literal':
      return [];
    case 'list':
      return node.elements;
    case 'call':
      return node.args;
    case 'not':
    case 'negative':
      return [node.operand];
    case 'any':
    case 'all':
      return node.operands;
    case 'arithmetic':
      return [node.first, ...node.rest.map((step) => step.operand)];
    case 'compare':
      return [node.left, node.right];
    case 'within':
      return [node.element, node.list];
    case 'choice':
      return [node.condition, node.whenTrue, node.whenFalse];
  }
}
