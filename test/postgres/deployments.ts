import { publishDrafts } from '../../src/engine/publish-drafts.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { nextId } from '../support/turn-builder.ts';

const TENANT = 'saltmarsh';
const clock = { nowMs: () => 1_802_332_800_000 };

/** Deployments of one sequence under a name that nobody else uses; its versions are told apart by their handlers. */
export function deploymentScene() {
  const name = `trip-${nextId()}`;
  const query = { tenantId: TENANT, namespace: null, name, limit: 100, offset: 0 };
  const publish = async (store: Store, handler: string, deployedAt: number | null, version?: number) => {
    const blocks = [{ type: 'step', id: 'a', handler }];
    const draft = { name, blocks, ...(version === undefined ? {} : { version }) };
    return (await publishDrafts({ store, clock }, TENANT, [draft], deployedAt))[0]?.outcome;
  };
  return {
    deploy: (store: Store, deployedAt: number | null, handler: string) => publish(store, handler, deployedAt),
    /** A draft that names its version is inserted as the API inserts one. */
    publishByHand: (store: Store, version: number, handler: string) => publish(store, handler, null, version),
    /** Newest first. */
    handlers: async (store: Store) =>
      (await store.listSequences(query)).map(
        ({ definition }) => /"handler": ?"([^"]+)"/.exec(JSON.stringify(definition))?.[1],
      ),
  };
}
