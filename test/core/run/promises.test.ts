import { describe, expect, it } from 'vitest';
import { type PromiseSnapshot, checkPromises } from '../../../src/core/run/promises.ts';
import { ENDED_STATES, LIVE_STATES } from '../../store-contract/states.ts';
import { frame, leaf, waitingLeaf } from '../../support/turn-builder.ts';

function snapshot(
  instance: Partial<PromiseSnapshot['instance']>,
  rest: Partial<Omit<PromiseSnapshot, 'instance'>> = {},
): PromiseSnapshot {
  return {
    instance: { id: 'i', state: 'scheduled', dueAt: null, leaseUntil: null, openWaits: 0, ...instance },
    frames: [],
    openTasks: [],
    ...rest,
  };
}

describe('checkPromises', () => {
  for (const state of LIVE_STATES) {
    it(`a ${state} instance with a due time or a lease is never stuck (RULINGS B7)`, () => {
      expect(checkPromises(snapshot({ state, dueAt: 5 }))).toEqual([]);
      expect(checkPromises(snapshot({ state, leaseUntil: 5 }))).toEqual([]);
    });
  }

  it('running without a lease needs a wake (RULINGS A27)', () => {
    expect(checkPromises(snapshot({ state: 'running' }))).toEqual([
      'i is running without a lease and without a wake',
    ]);
  });

  it('scheduled needs a due time (RULINGS A27)', () => {
    expect(checkPromises(snapshot({ state: 'scheduled' }))).toEqual(['i is scheduled without a due time']);
  });

  it('a pause is explicit and needs nothing', () => {
    expect(checkPromises(snapshot({ state: 'paused' }))).toEqual([]);
  });

  it('waiting needs something to wait for (RULINGS A27)', () => {
    expect(checkPromises(snapshot({ state: 'waiting' }))).toEqual(['i is waiting for nothing']);
  });

  it('a hold of an operator counts as a wait (RULINGS B7)', () => {
    expect(checkPromises(snapshot({ state: 'waiting', openWaits: 1 }))).toEqual([]);
    const idle = { frames: [frame(), frame({ blockId: 'b', leaf: leaf() })] };
    expect(checkPromises(snapshot({ state: 'waiting', openWaits: 1 }, idle))).toEqual([]);
  });

  for (const reason of ['input', 'event', 'child'] as const) {
    it(`waiting for ${reason} can end from outside`, () => {
      const frames = [frame({ leaf: waitingLeaf(reason) })];
      expect(checkPromises(snapshot({ state: 'waiting', openWaits: 1 }, { frames }))).toEqual([]);
    });
  }

  it('waiting for a worker needs the task to be open', () => {
    const waiting = (taskId: string | null, openTasks: readonly { readonly id: string }[]) =>
      checkPromises(
        snapshot(
          { state: 'waiting', openWaits: 1 },
          { frames: [frame({ leaf: waitingLeaf('worker', { taskId }) })], openTasks },
        ),
      );
    expect(waiting('t', [{ id: 't' }])).toEqual([]);
    expect(waiting(null, [])).toEqual([]);
    const broken = ['i counts 1 open waits, but no task, gate, event or child is open'];
    expect(waiting('t', [])).toEqual(broken);
    expect(waiting('t', [{ id: 'other' }])).toEqual(broken);
  });

  it('a timer without a due time is lost, unless something else is open', () => {
    const timer = frame({ leaf: leaf({ state: 'waiting', reason: 'delay' }) });
    const asking = frame({ blockId: 'b', leaf: waitingLeaf('input') });
    const state = { state: 'waiting' as const, openWaits: 1 };
    expect(checkPromises(snapshot(state, { frames: [timer] }))).toHaveLength(1);
    expect(checkPromises(snapshot(state, { frames: [timer, asking] }))).toEqual([]);
  });

  for (const state of ENDED_STATES) {
    it(`${state} has no due time, no open waits and no open tasks (RULINGS A27)`, () => {
      expect(checkPromises(snapshot({ state }))).toEqual([]);
      expect(checkPromises(snapshot({ state, leaseUntil: 5 }))).toEqual([]);
      expect(
        checkPromises(snapshot({ state, dueAt: 5, openWaits: 1 }, { openTasks: [{ id: 't' }] })),
      ).toEqual([
        `i is ${state} with a due time`,
        `i is ${state} with open waits`,
        `i is ${state} with open tasks`,
      ]);
    });
  }
});
