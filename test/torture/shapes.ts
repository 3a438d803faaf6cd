import * as z from 'zod';
import { API_PREFIX } from '../../src/api/alias.ts';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import {
  leavesOf,
  WRITE_REQUESTS,
  type WriteRequest,
  type WriteWorld,
} from '../api/support/write-requests.ts';
import {
  BROKEN_BODIES,
  IMPOSSIBLE_TEXTS,
  NAUGHTY_TEXTS,
  ODD_VALUES,
  REFUSED_VALUES,
} from '../support/naughty-values.ts';
import type { Sent } from './torturer.ts';

/** A route that changes something, with a request that it takes. */
export interface Target extends WriteRequest {
  readonly route: Route;
}

const TEXTS = NAUGHTY_TEXTS.map(([, text]) => text);
const MARK = '\u0000here\u0000';

const fullPath = ({ mount }: Pick<Route, 'mount'>, path: string): string =>
  mount === 'both' ? API_PREFIX + path : path;

const SOUND_ID = '01900000-0000-7000-8000-00000000dead';

/** A request for every route that changes something: one that it takes, or of a new route just the empty one. */
export async function targetsOf(world: WriteWorld): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const route of ROUTES) {
    if (route.method === 'GET' || route.method === 'DELETE') continue;
    const make = WRITE_REQUESTS[`${route.method} ${route.path}`];
    const empty = { path: route.path.replaceAll(/\{\w+\}/g, SOUND_ID), body: {} };
    targets.push({ route, ...(make === undefined ? empty : await make(world)) });
  }
  return targets;
}

const sentTo = ({ route, path }: Target, raw: NonNullable<Sent['raw']>): Sent => ({
  method: route.method,
  path: fullPath(route, path),
  raw,
});

/** Bodies that are no JSON. Each route gets some of them, and all together get each many times; so it is below. */
export function brokenBodies(target: Target, from: number): readonly Sent[] {
  if (target.route.body.kind === 'none') return [];
  return spread(BROKEN_BODIES, from, 16).map((raw) => sentTo(target, raw));
}

/** The valid body with something in one place that no body may hold: 422. */
export function refusedBodies(target: Target, from: number): readonly Sent[] {
  return withValues(target, spread([...REFUSED_VALUES, ...IMPOSSIBLE_TEXTS], from, 12));
}

/** The valid body with a strange text or value in the place of another one, and each of them in some place. */
export function strangeBodies(target: Target, from: number): readonly Sent[] {
  return withValues(target, [
    ...spread(
      TEXTS.map((text) => JSON.stringify(text)),
      from,
      40,
    ),
    ...spread(ODD_VALUES, from, 12),
  ]);
}

/** The valid body with members of strange names beside its own, on every level. */
export function strangeMembers({ body, ...target }: Target): readonly Sent[] {
  if (body === undefined) return [];
  const more = TEXTS.map((text, index) => `${JSON.stringify(text)}:${index}`).join();
  const levels = [...containersOf(body)];
  return levels.map((at) => {
    const marked = JSON.stringify(withMember(body, at)).replace(`"${escaped(MARK)}":0`, () => more);
    return sentTo({ ...target, body }, marked);
  });
}

function withValues(target: Target, values: readonly string[]): readonly Sent[] {
  const { body } = target;
  if (body === undefined || target.route.body.kind === 'none') return [];
  const leaves = leavesOf(body);
  return values.flatMap((value, index) => {
    const at = leaves[index % leaves.length];
    if (at === undefined) return [];
    const marked = JSON.stringify(replaced(body, at, MARK));
    return [
      sentTo(
        target,
        marked.replace(`"${escaped(MARK)}"`, () => value),
      ),
    ];
  });
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function replaced(value: Json, at: readonly (string | number)[], by: Json): Json {
  const [key, ...rest] = at;
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((inner, index) => (index === key ? replaced(inner as Json, rest, by) : inner));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, inner]) => [
      name,
      name === key ? replaced(inner, rest, by) : inner,
    ]),
  );
}

function* containersOf(
  value: Json,
  at: readonly (string | number)[] = [],
): Generator<readonly (string | number)[]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield at;
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, inner] of entries) yield* containersOf(inner as Json, [...at, key]);
}

function withMember(value: Json, at: readonly (string | number)[]): Json {
  const inside = at.reduce<Json>(
    (inner, key) => (inner as { [key: string | number]: Json })[key] ?? null,
    value,
  );
  return replaced(value, at, { ...(inside as JsonObject), [MARK]: 0 });
}

/** Segments of a path as they stand in a URL. */
const SEGMENTS = [
  ...TEXTS.filter((text) => text.length < 300).map((text) => encodeURIComponent(text)),
  ...[
    '%',
    '%0',
    '%zz',
    '%00',
    'a%00b',
    '%ff',
    '%c0%80',
    '%ed%a0%80',
    '%2e%2e%2f',
    '..%5c',
    ';x=y',
    '+',
    'x'.repeat(5000),
  ],
];

/** Every route with strange segments in place of its parameters, one after the other. */
export function strangePaths(route: Route, from: number): readonly Sent[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([whole]) => whole);
  return names.flatMap((name, index) =>
    spread(SEGMENTS, from + index, 9).map((segment) => ({
      method: route.method,
      path: fullPath(route, route.path.replace(name, () => segment).replaceAll(/\{\w+\}/g, SOUND_ID)),
      ...(route.body.kind === 'none' ? {} : { raw: '{}' }),
    })),
  );
}

/** Every route with strange values of its query parameters, and of one that it does not know. */
export function strangeQueries(route: Route, from: number): readonly Sent[] {
  const { properties = {} } = z.toJSONSchema(route.query, { io: 'input', unrepresentable: 'any' });
  const path = fullPath(route, route.path.replaceAll(/\{\w+\}/g, SOUND_ID));
  return [...Object.keys(properties), 'metadata.x', '__proto__'].flatMap((name, index) =>
    spread(SEGMENTS, from + index * 7, 3).map((value) => ({
      method: route.method,
      path: `${path}?${name}=${value}`,
      ...(route.body.kind === 'none' ? {} : { raw: '{}' }),
    })),
  );
}

/** Some of a list one after the other, other ones for each start. */
function spread<T>(list: readonly T[], from: number, count: number): readonly T[] {
  const first = (from * count) % list.length;
  return [...list.slice(first), ...list.slice(0, first)].slice(0, count);
}
