import * as z from 'zod';
import { notFound } from '../../engine/refusal.ts';
import {
  followInstance,
  type InstanceEvent,
  type StreamPlace,
} from '../../engine/streams/instance-stream.ts';
import type { ServerEvent } from '../../engine/streams/server-event.ts';
import { defineRoute } from '../route.ts';
import { showOutput } from '../schemas/output.ts';
import { showNode } from '../schemas/tree.ts';
import { FilterParameter, IdPath, rangeParameter } from '../schemas/wire-values.ts';
import { streamAnswer } from '../streams.ts';

const POLL_MS = { standard: 500, least: 100, most: 5000 };

export const instanceStreamRoute = defineRoute({
  method: 'GET',
  path: '/instances/{id}/stream',
  tag: 'instances',
  summary:
    'State, outputs and, with include=nodes, tree nodes as server-sent events until the instance has ended',
  params: IdPath,
  query: z.object({
    poll_ms: rangeParameter(POLL_MS.standard, POLL_MS.least, POLL_MS.most),
    include: FilterParameter,
  }),
  responses: { 200: null },
  media: 'text/event-stream',
  handle: async (deps, { caller, path, filter, header }) => {
    const { tenantId } = caller;
    const instanceId = path.id;
    if ((await deps.store.getInstance(tenantId, instanceId)) === null)
      return notFound('instance', instanceId);
    const options = {
      tenantId,
      instanceId,
      pollMs: filter.poll_ms,
      withNodes: filter.include === 'nodes',
      after: readPlace(header('last-event-id')),
    };
    return streamAnswer(deps, { instanceId }, 'unavailable', (follower) =>
      shown(instanceId, followInstance(deps, follower, options)),
    );
  },
});

async function* shown(
  instanceId: string,
  events: AsyncGenerator<InstanceEvent>,
): AsyncGenerator<ServerEvent> {
  for await (const event of events) yield show(instanceId, event);
}

function show(instanceId: string, event: InstanceEvent): ServerEvent {
  switch (event.kind) {
    case 'state':
      return { event: 'state', data: { instance_id: instanceId, state: event.state } };
    case 'output':
      return { event: 'output', id: writePlace(event.place), data: showOutput(event.row) };
    case 'node':
      return { event: 'node', id: writePlace(event.place), data: showNode(instanceId, event.node) };
    case 'done':
      return { event: 'done', data: { state: event.state } };
  }
}

/** `rev.ordinal`, with the digest of the nodes behind it when nodes are told. */
function writePlace({ row, nodes }: StreamPlace): string {
  const rows = row === null ? '0.0' : `${row.rev}.${row.ordinal}`;
  return nodes === null ? rows : `${rows}.${nodes}`;
}

/** Where a reader that comes back goes on; anything else than an id of ours begins at the start. */
function readPlace(id: string | undefined): StreamPlace | null {
  const parts = /^(\d{1,15})\.(\d{1,9})(?:\.([0-9a-f]{12}))?$/.exec(id ?? '');
  if (parts === null) return null;
  const row = { rev: Number(parts[1]), ordinal: Number(parts[2]) };
  return { row: row.rev === 0 && row.ordinal === 0 ? null : row, nodes: parts[3] ?? null };
}
