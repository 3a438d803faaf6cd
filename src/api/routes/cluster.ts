import { emptyOkay, defineRoute, okay } from '../route.ts';
import { NodeList, showNode } from '../schemas/cluster.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';

const tag = 'cluster';
const access = 'admin';
const LISTED_MAX = 1000;

const nodes = defineRoute({
  method: 'GET',
  path: '/cluster/nodes',
  tag,
  access,
  summary: 'The processes that work on this database, those that have stopped last',
  params: NoParameters,
  query: NoParameters,
  responses: { 200: NodeList },
  handle: async ({ store, node }) => {
    // Who asks is there: a process that answers has given its sign of life.
    await node?.beatWhenDue();
    return okay((await store.listNodes(LISTED_MAX)).map(showNode));
  },
});

const drain = defineRoute({
  method: 'POST',
  path: '/cluster/nodes/{id}/drain',
  tag,
  access,
  summary: 'Let a process take no more work',
  params: IdPath,
  query: NoParameters,
  responses: { 200: null },
  handle: async ({ store, node }, { path }) => {
    await store.drainNode(path.id);
    // This process need not wait for its next heartbeat to learn of it.
    if (node?.id === path.id) await node.beat();
    return emptyOkay;
  },
});

export const clusterRoutes = [nodes, drain];
