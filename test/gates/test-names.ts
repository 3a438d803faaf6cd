import { parseSync } from '@swc/core';

/**
 * Full names of the tests in a file, outer `describe` first, joined with ` > `. Names that are not literals are left
 * out; a name given to `it.each` counts once.
 */
export function testNames(text: string): string[] {
  const names: string[] = [];
  visit(parseSync(text, { syntax: 'typescript', target: 'es2022' }), [], names);
  return names;
}

function visit(node: unknown, outer: readonly string[], names: string[]): void {
  if (typeof node !== 'object' || node === null) {
    return;
  }
  const call = testCall(node);
  if (call?.kind === 'test') {
    names.push([...outer, call.title].join(' > '));
  }
  const inner = call?.kind === 'suite' ? [...outer, call.title] : outer;
  for (const child of Object.values(node)) {
    visit(child, inner, names);
  }
}

function testCall(node: object): { kind: 'test' | 'suite'; title: string } | null {
  const call = node as {
    type?: string;
    callee?: unknown;
    arguments?: { expression: { type: string; value: string } }[];
  };
  const title = call.arguments?.[0]?.expression;
  const name = call.type === 'CallExpression' ? calledName(call.callee) : null;
  if (title?.type !== 'StringLiteral' || name === null) {
    return null;
  }
  if (name === 'describe') {
    return { kind: 'suite', title: title.value };
  }
  return name === 'it' || name === 'test' ? { kind: 'test', title: title.value } : null;
}

/** `it` of `it(...)`, `it.each(...)(...)` and `it.skipIf(...)(...)`. */
function calledName(callee: unknown): string | null {
  const node = callee as { type?: string; value?: string; object?: unknown; callee?: unknown };
  if (node.type === 'Identifier') {
    return node.value ?? null;
  }
  if (node.type === 'MemberExpression') {
    return calledName(node.object);
  }
  return node.type === 'CallExpression' ? calledName(node.callee) : null;
}
