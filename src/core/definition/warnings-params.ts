import { isJsonArray, isJsonObject, type Json, type JsonObject, member } from '../json.ts';
import {
  builtInParams,
  type HandlerParams,
  type ParamFacts,
  type ParamKind,
  paramTakes,
} from './built-in-params.ts';
import { didYouMean } from './did-you-mean.ts';
import { type Path, shorten } from './path.ts';
import type { WarningCode } from './warning.ts';

/** A handler of a document with the params it will get. */
export interface CalledHandler {
  readonly handler: string;
  readonly params: Json | undefined;
  /** Where the params stand, relative to what is warned of. */
  readonly path: Path;
  /** Another handler that may get the same params instead ([CB-6]): what it reads is known too. */
  readonly standIn?: string | undefined;
}

type Say = (code: WarningCode, message: string, path: Path) => void;

/**
 * What looks wrong in the params of a built-in handler: `missing_param`, `unknown_param` and `bad_param`. A value with a
 * template counts as given and as fitting, because it is known only when the step runs. Others' handlers know their own
 * params, so nothing is said of them.
 */
export function warnAboutParams(called: CalledHandler, say: Say): void {
  const { params, handler } = called;
  // Params that are one template as a whole are known only when the step runs.
  if (typeof params === 'string' && params.includes('{{')) return;
  warnMissing(called, say);
  const table = builtInParams(handler);
  if (table === undefined || table.open === true || !isJsonObject(params)) return;
  for (const [name, value] of Object.entries(params)) {
    const facts = factsOf(table, name);
    if (facts === undefined) warnUnknown(called, table, name, say);
    else warnBad(called, name, facts, value, say);
  }
}

function factsOf(table: HandlerParams, name: string): ParamFacts | undefined {
  return Object.hasOwn(table.params, name) ? table.params[name] : undefined;
}

/** Params that handlers of later versions need (handlers.md 5.3, 10, 11); until then a worker may serve their names. */
const NEEDED_LATER: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  ['mcp_call', [['url', 'server']]],
  ['agent', [['goal', 'messages']]],
  ['embed', [['input']]],
  ['memory_store', [['text', 'embedding']]],
  ['memory_search', [['query', 'query_embedding']]],
  ['memory_delete', [['key']]],
]);

function needsOf(handler: string, params: Json | undefined): readonly (readonly string[])[] {
  const always = builtInParams(handler)?.needs ?? NEEDED_LATER.get(handler) ?? [];
  if (handler === 'mcp_call' && (member(params, 'action') ?? 'call') === 'call')
    return [...always, ['tool_name']];
  if (handler === 'wait_for_event' && member(params, 'join') === 'count') return [...always, ['count']];
  return always;
}

function warnMissing({ handler, params, path }: CalledHandler, say: Say): void {
  const given: JsonObject = isJsonObject(params) ? params : {};
  for (const names of needsOf(handler, params)) {
    if (names.some((name) => Object.hasOwn(given, name))) continue;
    const needed = `'${handler}' needs the param ${names.join(' or ')}`;
    say('missing_param', `${needed}${otherwise(handler, names)}`, path);
  }
}

/** What is done without the param, when that is anything but a failure. */
function otherwise(handler: string, names: readonly string[]): string {
  const table = builtInParams(handler);
  const facts = names.map((name) => table?.params[name]).find((one) => one?.default !== undefined);
  return facts === undefined ? '' : `; without it the default of ${shown(facts)} is used`;
}

function shown({ default: value, unit }: ParamFacts): string {
  return `${JSON.stringify(value)}${unit === undefined ? '' : ` ${unit}`}`;
}

function warnUnknown(
  { handler, standIn, path }: CalledHandler,
  table: HandlerParams,
  name: string,
  say: Say,
): void {
  const other = standIn === undefined ? undefined : builtInParams(standIn);
  // A handler that is not built in may read anything.
  if (
    standIn !== undefined &&
    (other === undefined || other.open === true || factsOf(other, name) !== undefined)
  )
    return;
  const hint = didYouMean(name, Object.keys(table.params)) || `; ${taken(table)}`;
  say('unknown_param', `'${handler}' has no param '${shorten(name)}', it is ignored${hint}`, [...path, name]);
}

function taken({ params }: HandlerParams): string {
  const names = Object.entries(params).map(([name, { unit }]) =>
    unit === undefined ? name : `${name} (${unit})`,
  );
  return `it takes ${names.join(', ')}`;
}

function warnBad(
  { handler, path }: CalledHandler,
  name: string,
  facts: ParamFacts,
  value: Json,
  say: Say,
): void {
  const isBlank = value === '' && isNeeded(handler, name);
  if (!isBlank && isFitting(facts, value)) return;
  // Null stands for an absent param wherever one may be absent.
  if (value === null && !isNeeded(handler, name)) return;
  const instead = facts.default === undefined ? '' : ` (default ${shown(facts)})`;
  say('bad_param', `'${handler}' cannot use this ${name}; it takes: ${paramTakes(facts)}${instead}`, [
    ...path,
    name,
  ]);
}

function isNeeded(handler: string, name: string): boolean {
  return builtInParams(handler)?.needs.some((names) => names.includes(name)) === true;
}

function isFitting(facts: ParamFacts, value: Json): boolean {
  if (typeof value === 'string' && value.includes('{{')) return true;
  if (facts.values !== undefined) {
    const text = typeof value === 'string' && facts.anyCase === true ? value.toUpperCase() : value;
    return facts.values.some((allowed) => allowed === text);
  }
  return (
    facts.kinds.some((kind) => isOfKind(kind, value)) &&
    !(typeof value === 'number' && value > (facts.max ?? value))
  );
}

function isOfKind(kind: ParamKind, value: Json): boolean {
  switch (kind) {
    case 'any':
      return true;
    case 'text':
      return typeof value === 'string';
    case 'count':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
    case 'boolean':
      return typeof value === 'boolean';
    case 'object':
      return isJsonObject(value);
    case 'list':
      return isJsonArray(value);
  }
}
