import { expect, it } from 'vitest';
import type { NewWait, Outside, TakenEvents } from '../../src/core/run/outside.ts';
import type { AcceptedEvent, NewEvent } from '../../src/ports/store/events.ts';
import {
  TENANT,
  allDone,
  auditEntry,
  frame,
  gate,
  nextId,
  settleAs,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { type World, useWorld } from './world.ts';

export const NOTHING: Outside = { signals: [], emits: [], waits: [], waitsClosed: [], takes: [] };

function newWait(overrides: Partial<NewWait> = {}): NewWait {
  return {
    id: nextId(),
    blockId: 'ask',
    iteration: '',
    names: ['paid', 'packed'],
    correlationKey: 'o-7',
    join: 'all',
    needed: 2,
    ...overrides,
  };
}

function newEvent(eventName: string, overrides: Partial<NewEvent> = {}): NewEvent {
  return {
    id: nextId(),
    tenantId: TENANT,
    eventName,
    producerEventId: `p-${nextId()}`,
    correlationKey: 'o-7',
    payload: { of: eventName },
    ...overrides,
  };
}

/** An instance whose gate waits for events. */
async function waitingForEvents(world: World, wait: NewWait): Promise<string> {
  const id = await world.start();
  const claim = await world.claim(id);
  const leaf = waitingLeaf('input', { gate: gate({ waitId: wait.id }) });
  await world.apply(
    turnOf(claim, {
      inboxDone: allDone(claim),
      frames: [write(frame({ leaf }))],
      audit: [auditEntry('running', 'waiting')],
      settle: settleAs('waiting', { openWaits: 1 }),
      outside: { ...NOTHING, waits: [wait] },
    }),
  );
  return id;
}

export function describeEvents(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const send = (name: string, overrides: Partial<NewEvent> = {}): Promise<AcceptedEvent> =>
    world.store.acceptEvent(newEvent(name, overrides));
  const inboxOf = async (id: string) => (await world.frontier(id)).inbox.map(({ fact }) => fact);
  const statusOf = async (id: string) => (await world.store.getEvent(TENANT, id))?.status;

  it('an event is stored once per name and producer id, a repeat answers the first and changes nothing (22.3)', async () => {
    const first = newEvent('paid', { producerEventId: 'p-1', payload: { sum: 12 } });
    expect(await world.store.acceptEvent(first)).toEqual({
      eventId: first.id,
      duplicate: false,
      match: null,
    });
    const again = await send('paid', { producerEventId: 'p-1', payload: { sum: 13 }, correlationKey: 'o-8' });
    expect(again).toEqual({ eventId: first.id, duplicate: true, match: null });
    expect(await world.store.getEvent(TENANT, first.id)).toMatchObject({
      payload: { sum: 12 },
      status: 'pending',
    });
    expect(await send('packed', { producerEventId: 'p-1' })).toMatchObject({ duplicate: false });
    expect(await send('paid', { producerEventId: 'p-1', tenantId: 'other' })).toMatchObject({
      duplicate: false,
    });
  });

  it('the event that satisfies a wait is a fact of its instance and makes it due at once [WAIT-4]', async () => {
    const wait = newWait();
    const id = await waitingForEvents(world, wait);
    expect(await send('paid')).toMatchObject({
      match: { waitId: wait.id, instanceId: id, satisfied: false },
    });
    expect(await world.view(id)).toMatchObject({ dueAt: null });
    expect(await send('packed')).toMatchObject({ match: { waitId: wait.id, satisfied: true } });
    expect(await inboxOf(id)).toEqual([{ kind: 'event', waitId: wait.id, blockId: 'ask' }]);
    expect(await world.view(id)).toMatchObject({ state: 'waiting', dueAt: await world.now() });
    expect(await world.store.eventWait({ tenantId: TENANT, instanceId: id }, wait)).toMatchObject({
      id: wait.id,
      names: ['paid', 'packed'],
      satisfied: true,
      events: [
        { eventName: 'paid', payload: { of: 'paid' } },
        { eventName: 'packed', payload: { of: 'packed' } },
      ],
    });
  });

  it('tenant, name and correlation key must be equal [WAIT-2]', async () => {
    await waitingForEvents(world, newWait());
    expect(await send('paid', { tenantId: 'other' })).toMatchObject({ match: null });
    expect(await send('paid', { correlationKey: 'o-8' })).toMatchObject({ match: null });
    expect(await send('sent')).toMatchObject({ match: null });
  });

  it('with join all a second event of a matched name is left for others [WAIT-3]', async () => {
    const wait = newWait();
    const id = await waitingForEvents(world, wait);
    await send('paid');
    const second = await send('paid');
    expect(second.match).toBeNull();
    expect(await statusOf(second.eventId)).toBe('pending');
    expect(await inboxOf(id)).toEqual([]);
  });

  it('join any takes one event, join count so many, names may repeat [WAIT-3]', async () => {
    const any = await waitingForEvents(world, newWait({ join: 'any', needed: 1 }));
    expect(await send('packed')).toMatchObject({ match: { instanceId: any, satisfied: true } });
    const count = await waitingForEvents(world, newWait({ join: 'count', needed: 3 }));
    for (const satisfied of [false, false, true]) {
      expect(await send('paid')).toMatchObject({ match: { instanceId: count, satisfied } });
    }
    expect(await send('paid')).toMatchObject({ match: null });
  });

  it('the oldest wait takes the event, and one only [WAIT-2]', async () => {
    const older = await waitingForEvents(world, newWait({ join: 'any', needed: 1 }));
    const younger = await waitingForEvents(world, newWait({ join: 'any', needed: 1 }));
    expect(await send('paid')).toMatchObject({ match: { instanceId: older } });
    expect(await inboxOf(younger)).toEqual([]);
    expect(await send('paid')).toMatchObject({ match: { instanceId: younger } });
  });

  it('a wait takes what came before it, oldest first, and wakes the run that registers it [WAIT-2]', async () => {
    const [first, second] = [await send('paid'), await send('paid')];
    await send('packed');
    const wait = newWait();
    const id = await world.start();
    const claim = await world.claim(id);
    const leaf = waitingLeaf('input', { gate: gate({ waitId: wait.id }) });
    const intent = frame({ leaf, cursor: 1 });
    const verdict = await world.apply(
      turnOf(claim, {
        frames: [{ frame: frame({ leaf }), intent }],
        outside: { ...NOTHING, waits: [wait] },
      }),
    );
    expect(verdict).toMatchObject({ granted: false, inbox: [{ fact: { kind: 'event', waitId: wait.id } }] });
    expect(await statusOf(first.eventId)).toBe('consumed');
    expect(await statusOf(second.eventId)).toBe('pending');
  });

  it('a wait that its run has closed takes nothing, what it has taken stays consumed [WAIT-6]', async () => {
    const wait = newWait();
    const id = await waitingForEvents(world, wait);
    const paid = await send('paid');
    const claim = await world.operate(id);
    await world.apply(
      turnOf(claim, {
        audit: [auditEntry('waiting', 'cancelled')],
        settle: settleAs('cancelled'),
        outside: { ...NOTHING, waitsClosed: [wait.id] },
      }),
    );
    expect(await send('packed')).toMatchObject({ match: null });
    expect(await statusOf(paid.eventId)).toBe('consumed');
    const kept = await world.store.eventWait({ tenantId: TENANT, instanceId: id }, wait);
    expect(kept).toMatchObject({ satisfied: false, events: [{ eventName: 'paid' }] });
  });

  it('a step without gate takes pending events with its commit, and none that are gone [WAIT-7]', async () => {
    const [paid, packed] = [await send('paid'), await send('packed')];
    const pending = await world.store.pendingEvents({
      tenantId: TENANT,
      correlationKey: 'o-7',
      names: ['packed', 'paid'],
      limit: 10,
    });
    expect(pending.map((event) => event.id)).toEqual([paid.eventId, packed.eventId]);
    const take = async (taken: TakenEvents) => {
      const id = await world.start();
      return {
        id,
        verdict: await world.commit(
          turnOf(await world.claim(id), { outside: { ...NOTHING, takes: [taken] } }),
        ),
      };
    };
    const first = await take({ ...newWait(), eventIds: [packed.eventId, paid.eventId] });
    expect(first.verdict).toMatchObject({ verdict: 'ok', granted: true });
    const wait = await world.store.eventWait({ tenantId: TENANT, instanceId: first.id }, newWait());
    expect(wait).toMatchObject({ satisfied: true, events: [{ eventName: 'packed' }, { eventName: 'paid' }] });
    const second = await take({ ...newWait(), eventIds: [paid.eventId] });
    expect(second.verdict).toEqual({ verdict: 'refused' });
    expect(await world.store.eventWait({ tenantId: TENANT, instanceId: second.id }, newWait())).toBeNull();
  });

  it('events are listed newest first, by tenant and status', async () => {
    const sent = [await send('paid'), await send('packed'), await send('paid', { tenantId: 'other' })];
    await waitingForEvents(world, newWait({ join: 'any', needed: 1, names: ['paid'] }));
    const list = async (tenantId: string | null, status: 'pending' | 'consumed' | null, limit = 10) =>
      (await world.store.listEvents({ tenantId, status, limit })).map(({ id }) =>
        sent.findIndex((e) => e.eventId === id),
      );
    expect(await list(null, null)).toEqual([2, 1, 0]);
    expect(await list(TENANT, 'pending')).toEqual([1]);
    expect(await list(TENANT, 'consumed')).toEqual([0]);
    expect(await list(null, null, 1)).toEqual([2]);
    expect(await world.store.getEvent('other', sent[0]?.eventId ?? '')).toBeNull();
    expect(await world.store.getEvent(null, 'no-uuid')).toBeNull();
  });
}
