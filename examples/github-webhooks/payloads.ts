import { createRequire } from 'node:module';
import * as z from 'zod';
import type { JsonObject } from '../../src/core/json.ts';

/** A real payload that GitHub sent once, from the package @octokit/webhooks-examples. */
export interface Payload {
  /** What GitHub puts into X-GitHub-Event. */
  readonly event: string;
  readonly body: JsonObject;
}

export type Route = 'issue' | 'pull_request' | 'push' | 'other';

const Examples = z.array(
  z.looseObject({ name: z.string(), examples: z.array(z.record(z.string(), z.json())) }),
);

/** The package is one JSON file. */
const require = createRequire(import.meta.url);

const REVIEWED_ACTIONS = new Set<unknown>(['opened', 'reopened', 'ready_for_review', 'synchronize']);

/** All payloads by the route that they must take; told apart without any code of the sequence. */
export function payloadsByRoute(): Readonly<Record<Route, readonly Payload[]>> {
  const file: unknown = require('@octokit/webhooks-examples');
  const all = Examples.parse(file).flatMap(({ name, examples }) =>
    examples.map((body): Payload => ({ event: name, body })),
  );
  const of = (event: string, keep: (body: JsonObject) => boolean) =>
    all.filter((payload) => payload.event === event && keep(payload.body));
  return {
    issue: of('issues', ({ action }) => action === 'opened'),
    pull_request: of('pull_request', ({ action }) => REVIEWED_ACTIONS.has(action)),
    push: all.filter((payload) => payload.event === 'push' && commitIds(payload).length > 0),
    other: all.filter(({ event }) => ['star', 'fork', 'release', 'watch', 'label'].includes(event)),
  };
}

/** `issues.opened`, as GitHub's own documentation names events. */
export function eventName({ event, body }: Payload): string {
  return typeof body['action'] === 'string' ? `${event}.${body['action']}` : event;
}

/** Ids of the commits of a push; empty for other events. */
export function commitIds({ body }: Payload): readonly string[] {
  return z
    .array(z.looseObject({ id: z.string() }))
    .catch([])
    .parse(body['commits'])
    .map(({ id }) => id);
}
