import * as z from 'zod';
import type { ClusterNode } from '../../ports/store/nodes.ts';
import { Timestamp, timestamp, Uuid } from './wire-values.ts';

/** A process of the cluster (http-api.md 25). */
export const NodeBody = z.object({
  id: Uuid,
  name: z.string(),
  status: z.enum(['active', 'draining', 'stopped']),
  registered_at: Timestamp,
  last_heartbeat_at: Timestamp,
  drain: z.boolean(),
  drain_started_at: Timestamp.exactOptional(),
  stopped_at: Timestamp.exactOptional(),
  /** It takes no more work. */
  capabilities_withdrawn: z.boolean(),
});
export const NodeList = z.array(NodeBody);

export function showNode(node: ClusterNode): z.infer<typeof NodeBody> {
  const { drainStartedAt, stoppedAt } = node;
  return {
    id: node.id,
    name: node.name,
    status: node.status,
    registered_at: timestamp(node.registeredAt),
    last_heartbeat_at: timestamp(node.lastHeartbeatAt),
    drain: drainStartedAt !== null,
    ...(drainStartedAt === null ? {} : { drain_started_at: timestamp(drainStartedAt) }),
    ...(stoppedAt === null ? {} : { stopped_at: timestamp(stoppedAt) }),
    capabilities_withdrawn: node.status !== 'active',
  };
}
