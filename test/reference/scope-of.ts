import { evaluateExpression, isTruthy } from '../../src/core/expressions/evaluate.ts';
import type { Scope } from '../../src/core/expressions/scope.ts';
import { resolveTemplates } from '../../src/core/expressions/template.ts';
import type { Failure } from '../../src/core/failure.ts';
import { isJsonObject, type Json, jsonObject, member, mergeObjects } from '../../src/core/json.ts';
import { err, ok, type Result } from '../../src/core/result.ts';
import type { Instance } from './instance.ts';
import { ancestors, type TreeNode } from './tree-node.ts';

/** What a text at this node sees (11.5, 11.6, OUT-5). `error` overrides the surrounding blocks' (CERR-3). */
export function scopeOf(instance: Instance, node: TreeNode, error?: Json): Scope {
  const outputs = new Map<string, Json>();
  for (const row of instance.rows) outputs.set(row.block, row.output);
  const surrounding = error ?? errorAround(node);
  return {
    data: instance.data,
    config: instance.config,
    outputs,
    instanceId: instance.id,
    runtime: () => ({}),
    state: instance.state,
    items: itemsAround(node),
    ...(surrounding === undefined ? {} : { error: surrounding }),
    now: () => 0,
    random: () => 0,
    uuid: () => '',
  };
}

/** Bindings of the enclosing for_each blocks, the inner one winning. A block does not see its own item. */
function itemsAround(node: TreeNode): Map<string, Json> {
  const items = new Map<string, Json>();
  for (const { block, pass } of ancestors(node)) {
    if (block.type !== 'for_each' || pass.items === null || items.has(block.item_var)) continue;
    items.set(block.item_var, pass.items[pass.finished] ?? null);
  }
  return items;
}

/** [CERR-2]: the innermost block in whose catch, finally-after-failure or compensation the node lies. */
function errorAround(node: TreeNode): Json | undefined {
  let child = node;
  for (const up of ancestors(node)) {
    const isConcerned =
      (up.block.type === 'try_catch' && child.branch > 0) ||
      (up.block.type === 'saga' && child.branch % 2 === 1);
    if (isConcerned && up.phase.error !== undefined) return up.phase.error;
    child = up;
  }
  return undefined;
}

/** The scope of a step's templates, limited by `context_access` (TPL-2, ACC-1 to ACC-4). */
export function templateScope(instance: Instance, node: TreeNode): Scope {
  const scope = scopeOf(instance, node);
  if (node.block.type !== 'step' || node.block.context_access === undefined) return scope;
  const access = node.block.context_access;
  const config = access.config ? scope.config : {};
  if (access.data === true || access.data === 'all') return { ...scope, config };
  const fields = typeof access.data === 'object' ? access.data.fields : [];
  if (!isJsonObject(scope.data)) {
    return { ...withoutError(scope), config, data: fields.length > 0 ? scope.data : {} };
  }
  const items = new Map([...scope.items].map(([name, item]) => [name, fields.includes(name) ? item : null]));
  const data = jsonObject(Object.entries(scope.data).filter(([key]) => fields.includes(key)));
  return { ...(fields.includes('_error') ? scope : withoutError(scope)), config, data, items };
}

function withoutError({ error: _hidden, ...scope }: Scope): Scope {
  return scope;
}

export function truthy(instance: Instance, node: TreeNode, text: string, error?: Json): boolean {
  const value = evaluateExpression(text, scopeOf(instance, node, error), 'lenient');
  return value.ok && isTruthy(value.value);
}

export function permanent(code: string): Failure {
  return { message: code, retryable: false, code };
}

export function resolve(value: Json, scope: Scope): Result<Json, Failure> {
  const resolved = resolveTemplates(value, scope);
  return resolved.ok ? resolved : err(permanent('TEMPLATE_ERROR'));
}

/** The items of a for_each (EACH-1); null when there is no array. */
export function collectionOf(instance: Instance, node: TreeNode, text: string): Result<Json, Failure> {
  const scope = scopeOf(instance, node);
  if (text.includes('{{')) return resolve(text, scope);
  const bound = jsonObject(scope.items);
  const data = isJsonObject(scope.data) ? mergeObjects(scope.data, bound) : bound;
  const segments = text.trim().split('.');
  const direct = walk(data, segments);
  if (direct !== undefined) return ok(direct);
  const [root, second = '', ...rest] = segments;
  if (root === 'data') return ok(walk(data, segments.slice(1)) ?? null);
  if (root === 'context' && second === 'data') return ok(walk(data, rest) ?? null);
  if (root === 'outputs') return ok(walk(jsonObject(scope.outputs), segments.slice(1)) ?? null);
  if (root === 'input') return ok(walk(data, segments) ?? null);
  if (root === 'config') return ok(walk(scope.config, segments.slice(1)) ?? null);
  return ok(null);
}

function walk(value: Json, segments: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const segment of segments) {
    if (Array.isArray(at) && /^\d+$/.test(segment)) at = at[Number(segment)];
    else at = member(at, segment);
  }
  return at;
}
