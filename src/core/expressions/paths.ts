import { isJsonArray, isJsonObject, type Json, jsonObject, member } from '../json.ts';
import { isDigits } from './lexical.ts';
import { type Meter, newMeter, spend, WORK_MAX } from './limits.ts';
import type { Scope } from './scope.ts';

/** What the first names of a path lead to (expressions.md 1.1). */
export type Root = 'data' | 'config' | 'outputs' | 'instance_id' | 'runtime' | 'state';

/** A parsed path. `nothing` stands for paths that are null by definition, such as `context.runtime` in expressions. */
export interface Path {
  readonly root: Root | 'nothing';
  readonly segments: readonly string[];
}

/**
 * What is read, the meter that pays for it, and the roots that had to be put together as one value, so that a text
 * which names them a thousand times copies them once.
 */
export interface Evaluation {
  readonly scope: Scope;
  readonly meter: Meter;
  readonly wholes: Map<Root, Json>;
}

/** A fresh evaluation in a scope. */
export function newEvaluation(scope: Scope): Evaluation {
  return { scope, meter: newMeter(WORK_MAX), wholes: new Map() };
}

/** What the names of a path say about its root: a path, a section of `context` that does not exist, or no root. */
export type RootedPath =
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'unknown_section' }
  | { readonly kind: 'no_root' };

/** Reads the root off the names of a path. `state` is among them, though it is a root of templates only. */
export function rootedPath(names: readonly string[]): RootedPath {
  const [first = '', second] = names;
  switch (first) {
    case 'data':
    case 'config':
    case 'outputs':
    case 'instance_id':
    case 'runtime':
    case 'state':
      return { kind: 'path', path: { root: first, segments: names.slice(1) } };
    case 'steps':
      return { kind: 'path', path: { root: 'outputs', segments: names.slice(1) } };
    case 'input':
      return { kind: 'path', path: { root: 'data', segments: names } };
    case 'context':
      if (second !== 'data' && second !== 'config') return { kind: 'unknown_section' };
      return { kind: 'path', path: { root: second, segments: names.slice(2) } };
    default:
      return { kind: 'no_root' };
  }
}

/** The value of a path, or undefined when it is missing. */
export function readPath(path: Path, evaluation: Evaluation): Json | undefined {
  const { scope, meter } = evaluation;
  spend(meter, 1 + path.segments.length);
  switch (path.root) {
    case 'data':
      return readData(path.segments, evaluation);
    case 'config':
      return walk(scope.config, path.segments);
    case 'outputs':
      return readMap('outputs', scope.outputs, path.segments, evaluation);
    case 'state':
      return readMap('state', scope.state, path.segments, evaluation);
    case 'runtime':
      return walk(scope.runtime(), path.segments);
    case 'instance_id':
      return walk(scope.instanceId, path.segments);
    case 'nothing':
      return undefined;
  }
}

/** Follows names from a value: own members and existing elements only ([PATH-2], [SEC-1]). */
export function walk(value: Json | undefined, segments: readonly string[]): Json | undefined {
  let current = value;
  for (const segment of segments) {
    if (current === undefined) return undefined;
    current = selectByName(current, segment);
  }
  return current;
}

/** One step of a path: the own member, or the element when the name is an index. */
export function selectByName(value: Json, name: string): Json | undefined {
  if (isJsonArray(value)) return isDigits(name) ? value[Number(name)] : undefined;
  return member(value, name);
}

function readData(segments: readonly string[], evaluation: Evaluation): Json | undefined {
  const { scope } = evaluation;
  const [first, ...rest] = segments;
  if (first === undefined) return whole('data', evaluation, () => overlaidData(scope));
  if (first === '_error' && scope.error !== undefined) return walk(scope.error, rest);
  const item = scope.items.get(first);
  return item === undefined ? walk(scope.data, segments) : walk(item, rest);
}

/** `data` with the bindings on top when it is an object. Only here is it copied, one level deep. */
function overlaidData({ data, items, error }: Scope): Json {
  if (!isJsonObject(data) || (items.size === 0 && error === undefined)) return data;
  const overlay: readonly (readonly [string, Json])[] = error === undefined ? [] : [['_error', error]];
  return jsonObject([...Object.entries(data), ...items, ...overlay]);
}

function readMap(
  root: Root,
  map: ReadonlyMap<string, Json>,
  segments: readonly string[],
  evaluation: Evaluation,
): Json | undefined {
  const [first, ...rest] = segments;
  return first === undefined ? whole(root, evaluation, () => jsonObject(map)) : walk(map.get(first), rest);
}

/** A root as one value, made at its first use. */
function whole(root: Root, { wholes }: Evaluation, make: () => Json): Json {
  const made = wholes.get(root) ?? make();
  wholes.set(root, made);
  return made;
}
