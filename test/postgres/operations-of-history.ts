import { newInstance, nextId, row, turnOf } from '../support/turn-builder.ts';
import type { Scene } from './large-scene.ts';

/** One call of each operation that goes back in a run or forks it. */
export function operationsOfHistory({
  store,
  held,
  schedule,
}: Scene): readonly (readonly [string, () => Promise<unknown>])[] {
  const key = { tenantId: held.tenantId, instanceId: held.instanceId };
  const first = { rev: 1, ordinal: 0, blockId: row().blockId };
  const signals = () => [{ id: nextId(), signalType: 'custom:poke', payload: null }];
  return [
    [
      'a commit that goes back in a run',
      () =>
        store.commit([turnOf(held, { strict: true, goBack: [{ superseded: [first], signals: signals() }] })]),
    ],
    [
      'a fork',
      () =>
        store.fork({
          source: key,
          instance: newInstance({ sequenceId: schedule.sequenceId }),
          runNo: 2,
          copied: [{ ...first, copyId: nextId() }],
          rows: [row({ blockId: 'b2' })],
          frames: [],
          stateAtRev: held.instance.rev,
          signals: signals(),
          journal: [],
        }),
    ],
  ];
}

/** The reads that serve them. */
export function readsOfHistory({
  store,
  held,
}: Scene): readonly (readonly [string, () => Promise<unknown>])[] {
  return [
    ['the history of an instance', () => store.getHistory(held.tenantId, held.instanceId)],
    [
      'the timeline of an instance',
      () => store.listTimeline(held.tenantId, held.instanceId, { offset: 0, limit: 50 }),
    ],
  ];
}
