import { expect, it } from 'vitest';
import type { InstanceFilter, SignalManyRequest } from '../../src/ports/store/many-instances.ts';
import { TENANT, nextId } from '../support/turn-builder.ts';
import { ALL_STATES, ENDED_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

const ALL: InstanceFilter = {
  tenantId: TENANT,
  namespace: null,
  sequenceId: null,
  states: [],
  metadata: [],
};

export function describeManyInstances(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const find = async (filter: Partial<InstanceFilter>, limit = 100): Promise<readonly string[]> =>
    (await world.store.findInstances({ ...ALL, ...filter }, limit)).map(({ id }) => id);
  const signals = (...ids: readonly string[]): SignalManyRequest => ({
    tenantId: TENANT,
    signals: ids.map((instanceId) => ({ instanceId, signalId: nextId() })),
    signalType: 'custom:poke',
    payload: { n: 1 },
    details: { action: 'signal' },
  });

  it('instances that fit a filter come with the longest untouched first', async () => {
    const old = await world.start({ metadata: { depot: 'north', n: 1 } });
    await world.advance(1);
    const other = await world.start({ namespace: 'billing', sequenceId: nextId() });
    await world.advance(1);
    const paused = await world.inState('paused');
    await world.start({ tenantId: 'other' });
    expect(await find({})).toEqual([old, other, paused]);
    expect(await find({}, 2)).toEqual([old, other]);
    expect(await find({ states: ['paused', 'failed'] })).toEqual([paused]);
    expect(await find({ namespace: 'billing' })).toEqual([other]);
    expect(await find({ sequenceId: (await world.view(other)).sequenceId })).toEqual([other]);
    expect(await find({ metadata: [['depot', 'north']] })).toEqual([old]);
    expect(
      await find({
        metadata: [
          ['depot', 'north'],
          ['depot', 'south'],
        ],
      }),
    ).toEqual([]);
    expect(await find({ metadata: [['n', '1']] })).toEqual([]);
    expect(await find({ tenantId: 'nobody' })).toEqual([]);
    expect(await world.store.findInstances({ ...ALL, states: ['paused'] }, 1)).toEqual([
      { id: paused, state: 'paused' },
    ]);
  });

  for (const state of ALL_STATES) {
    const ended = ENDED_STATES.some((other) => other === state);
    it(`a signal to many ${ended ? 'leaves out' : 'reaches'} one that is ${state} [SIG-2]`, async () => {
      const id = await world.inState(state);
      const before = (await world.frontier(id)).inbox.length;
      expect(await world.store.signalMany(signals(id))).toEqual(new Set(ended ? [] : [id]));
      expect((await world.frontier(id)).inbox).toHaveLength(before + (ended ? 0 : 1));
      const audit = (await world.store.listAudit(null, id, 100)) ?? [];
      const entries = audit.filter(({ eventType }) => eventType === 'batch_action');
      expect(entries.map(({ fromState, toState, details }) => ({ fromState, toState, details }))).toEqual(
        ended ? [] : [{ fromState: state, toState: null, details: { action: 'signal' } }],
      );
    });
  }

  it('a signal to many wakes them, once for each signal id (RULINGS A36)', async () => {
    const [one, two] = [await world.start(), await world.inState('waiting')];
    const request = signals(two, one, nextId());
    expect(await world.store.signalMany(request)).toEqual(new Set([one, two]));
    expect(await world.store.signalMany(request)).toEqual(new Set([one, two]));
    for (const id of [one, two]) {
      const { inbox, instance, now } = await world.frontier(id);
      expect(inbox.map(({ fact }) => fact)).toEqual([
        { kind: 'signal', signalType: 'custom:poke', payload: { n: 1 } },
      ]);
      expect(instance.dueAt).toBe(now);
    }
    const theirs = await world.start({ tenantId: 'other' });
    expect(await world.store.signalMany(signals(theirs))).toEqual(new Set());
    expect(await world.store.signalMany(signals())).toEqual(new Set());
  });

  it('a batch action is noted in the audit of its tenant’s instances [AUD-1]', async () => {
    const [id, theirs] = [await world.start(), await world.start({ tenantId: 'other' })];
    await world.store.noteBatchAction(TENANT, [id, theirs, nextId()], 'failed', { action: 'retry' });
    await world.store.noteBatchAction(TENANT, [], 'failed', { action: 'retry' });
    expect(await world.store.listAudit(null, id, 10)).toMatchObject([
      { eventType: 'batch_action', fromState: 'failed', details: { action: 'retry' } },
    ]);
    expect(await world.store.listAudit(null, theirs, 10)).toEqual([]);
  });

  it('higher work of the same tenant is seen when it is due and nobody holds it [SWEEP-3]', async () => {
    const higher = (): Promise<boolean> => world.store.hasHigherDue(TENANT, 1);
    await world.start({ priority: 3, tenantId: 'other' });
    await world.start({ priority: 1 });
    await world.start({ priority: 2, nextFireAt: (await world.now()) + 1_000 });
    expect(await higher()).toBe(false);
    const critical = await world.start({ priority: 3 });
    expect(await higher()).toBe(true);
    await world.claim(critical);
    expect(await higher()).toBe(false);
    await world.advance(1_000);
    expect(await higher()).toBe(true);
    expect(await world.store.hasHigherDue(TENANT, 2)).toBe(false);
    expect(await world.store.hasHigherDue(TENANT, 3)).toBe(false);
  });
}
