import type { Store } from '../../src/ports/store/store.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import { TENANT, nextId, row, turnOf } from '../support/turn-builder.ts';

/** One instance that has run very many items: the rows of one block, in as many passes, and the failed ones among them. */
export const fillItems = ({ instanceId }: Claim): string => `
INSERT INTO stepwell.block_outputs (id, instance_id, rev, created_at, run_no, ordinal, attempt, output_size, tenant_id,
  block_id, iteration, kind, output)
SELECT gen_random_uuid(), '${instanceId}', 100000 + n, now(), 1, 0, 0, 2, '${TENANT}', 'in-item', 'each:' || n, 'result', '{}'
FROM generate_series(1, 20000) n;
INSERT INTO stepwell.externalized_state (instance_id, key, tenant_id, data, created_at)
SELECT '${instanceId}', 'failed:' || lpad(n::text, 6, '0'), '${TENANT}', '{"error": {}}', now()
FROM generate_series(1, 20000) n WHERE n > 100;`;

/** One call of each operation that a turn with items side by side makes. */
export function operationsOfItems(
  store: Store,
  held: Claim,
): readonly (readonly [string, () => Promise<unknown>])[] {
  const key = { tenantId: held.tenantId, instanceId: held.instanceId };
  const blockId = 'in-item';
  const wanted = [7, 8, 9].map((n) => ({ pass: `each:${n}`, blockId }));
  const rule = { blockIds: [blockId], kinds: ['result'], iteration: 'each:5', keepLatest: true } as const;
  return [
    ['a read of outputs as items see them', () => store.readOutputsWithin(key, wanted)],
    [
      'a read of failed items',
      () => store.readValues(key, { prefix: 'failed:', from: 'failed:000200', count: 5 }),
    ],
    [
      'a read of what five items have put out',
      () =>
        store.readCollected(key, { start: 'each:', from: 3, count: 5, blocks: [blockId], failed: 'failed:' }),
    ],
    ['the node rows of an item', () => store.listNodeRowsWithin(TENANT, held.instanceId, wanted)],
    [
      'a commit that forgets an item',
      () =>
        store.commit([
          turnOf(held, {
            rows: [row({ blockId: `b-${nextId()}` })],
            supersede: [{ ...rule, unlessStored: ['failed:000005'] }],
          }),
        ]),
    ],
  ];
}
