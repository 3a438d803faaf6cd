import type { Route } from './route.ts';

/** Where the routes of an API come from: all at hand, or each loaded when it is first called. */
export interface RouteTable {
  readonly paths: readonly RoutePath[];
  readonly all: () => Promise<readonly Route[]>;
}

/** The routes of one path, one for each of its methods. */
export interface RoutePath {
  readonly path: string;
  /** Found under its bare path alone (see Mount). */
  readonly isRoot: boolean;
  readonly load: () => Promise<readonly Route[]>;
}

/** The table of routes that are all at hand. */
export function tableOf(routes: readonly Route[]): RouteTable {
  const byPath = new Map<string, Route[]>();
  for (const route of routes) {
    const known = byPath.get(route.path);
    if (known === undefined) byPath.set(route.path, [route]);
    else known.push(route);
  }
  const paths = [...byPath].map(([path, found]) => ({
    path,
    isRoot: found.every(({ mount }) => mount === 'root'),
    load: () => Promise.resolve(found),
  }));
  return { paths, all: () => Promise.resolve(routes) };
}
