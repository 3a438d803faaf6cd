import { type Json, utf8Bytes } from '../core/json.ts';
import { failedItemKey, indexOfKey } from '../core/run/blocks/set-aside.ts';
import type { CollectedNeed, FanOutNeeds } from '../core/run/fan-out-knowledge.ts';
import { frameKey } from '../core/run/frame.ts';
import type { Knowledge } from '../core/run/knowledge.ts';
import { passPath } from '../core/run/plan.ts';
import type { InstanceKey } from '../ports/store/reads.ts';
import type { TurnReads } from './turn-reads.ts';

const FAILED_ITEMS_PER_READ = 20;
const COLLECTED_PER_READ = 200;

/** Reads what blocks that fan out have asked for. */
export async function readItemNeeds(
  store: TurnReads,
  key: InstanceKey,
  knowledge: Knowledge,
  needs: FanOutNeeds,
): Promise<void> {
  await Promise.all([
    readOutputs(store, key, knowledge, needs),
    ...needs.items.map(async ({ snapshotKey, index }) => {
      const [item] = await store.readItems(key, snapshotKey, index, 1);
      if (item === undefined) throw new Error(`the stored collection ${snapshotKey} has no item ${index}`);
      knowledge.fanOut.pin(snapshotKey, index, item);
    }),
    ...needs.failedItems.map(async ({ key: prefix, from }) => {
      const range = { prefix: `${prefix}:`, from: failedItemKey(prefix, from), count: FAILED_ITEMS_PER_READ };
      const page = await store.readValues(key, range);
      const items = page.map(({ key: name, value }) => ({ index: indexOfKey(name), value }));
      knowledge.fanOut.learnFailedItems(prefix, items);
    }),
    ...needs.collected.map((need) => readCollected(store, key, knowledge, need)),
  ]);
}

async function readOutputs(
  store: TurnReads,
  key: InstanceKey,
  knowledge: Knowledge,
  { outputs }: FanOutNeeds,
): Promise<void> {
  if (outputs.size === 0) return;
  const wanted = [...outputs].flatMap(([pass, ids]) => [...ids].map((blockId) => ({ pass, blockId })));
  const found = new Map<string, Map<string, Json>>();
  for (const { pass, blockId, output } of await store.readOutputsWithin(key, wanted)) {
    const known = found.get(pass) ?? new Map<string, Json>();
    found.set(pass, known.set(blockId, output));
  }
  knowledge.fanOut.learnOutputs(outputs, found);
}

async function readCollected(
  store: TurnReads,
  key: InstanceKey,
  knowledge: Knowledge,
  need: CollectedNeed,
): Promise<void> {
  const page = await store.readCollected(key, {
    start: passPath(need.iteration, need.blockId, 0).slice(0, -1),
    from: need.from,
    count: Math.min(COLLECTED_PER_READ, need.total - need.from),
    blocks: need.candidates,
    failed: `${need.failedKey}:`,
  });
  const owner = frameKey({ blockId: need.blockId, branch: null, iteration: need.iteration });
  knowledge.fanOut.learnCollected(owner, page, utf8Bytes(JSON.stringify(page)));
}
