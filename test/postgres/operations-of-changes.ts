import type { Claim, TurnCommit } from '../../src/ports/store/turn.ts';
import { fireOf } from '../store-contract/schedules.ts';
import { TENANT, nextId, turnOf } from '../support/turn-builder.ts';
import type { Scene } from './large-scene.ts';

/** One call of each operation of schedules, of changes of runs and of checkpoints. */
export function operationsOfChanges({
  store,
  held,
  schedule,
}: Scene): readonly (readonly [string, () => Promise<unknown>])[] {
  const key = { tenantId: held.tenantId, instanceId: held.instanceId };
  return [
    ['a look for due schedules', () => store.dueSchedules(10)],
    ['a fire of a schedule', () => store.fireSchedule(fireOf(schedule))],
    [
      'a change of a run',
      () => store.acceptChange({ ...key, id: nextId(), expected: 0, change: injection() }),
    ],
    ['the changes of a run', () => store.listShapeChanges(key)],
    ['a commit that applies a change', () => store.commit([shapeOf(held)])],
    ['a checkpoint', () => store.addCheckpoint({ ...key, id: nextId(), data: 1 })],
    ['the last checkpoint', () => store.listCheckpoints(TENANT, held.instanceId, 1)],
    ['a prune of checkpoints', () => store.pruneCheckpoints(TENANT, held.instanceId, 100)],
  ];
}

const injection = () => ({
  kind: 'inject' as const,
  blocks: [{ type: 'step', id: 'x', handler: 'noop' }],
  position: null,
  before: null,
  after: null,
});

function shapeOf(held: Claim): TurnCommit {
  const { kind: _, ...placed } = injection();
  const shape = { accepted: 1, applied: 1, added: [{ ...placed, id: nextId(), change: 1 }] };
  return turnOf(held, { strict: true, instance: { shape } });
}
