import { describe, expect, it } from 'vitest';
import type { NewWait, Outside } from '../../src/core/run/outside.ts';
import type { NewEvent } from '../../src/ports/store/events.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import {
  TENANT,
  auditEntry,
  frame,
  gate,
  nextId,
  row,
  settleAs,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import { claimRequest, commitOk, commitOne, signalOf, startClaimed } from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

const NOTHING: Outside = { signals: [], emits: [], waits: [], waitsClosed: [], takes: [] };

/** Each test has a correlation key of its own: events of others are not in its way. */
function scene() {
  const correlationKey = `o-${nextId()}`;
  const newWait = (overrides: Partial<NewWait> = {}): NewWait => {
    const base = { id: nextId(), blockId: 'ask', iteration: '', names: ['paid'], correlationKey };
    return { ...base, join: 'any', needed: 1, ...overrides };
  };
  const event = (eventName = 'paid'): NewEvent => {
    const id = nextId();
    return { id, tenantId: TENANT, eventName, producerEventId: id, correlationKey, payload: null };
  };
  return { newWait, event };
}

function openingTurn(claim: Claim, wait: NewWait) {
  const leaf = waitingLeaf('input', { gate: gate({ waitId: wait.id }) });
  return turnOf(claim, {
    frames: [write(frame({ leaf }))],
    audit: [auditEntry('running', 'waiting')],
    settle: settleAs('waiting', { openWaits: 1 }),
    outside: { ...NOTHING, waits: [wait] },
  });
}

async function waitingFor(store: Store, wait: NewWait): Promise<string> {
  const claim = await startClaimed(store);
  await commitOk(store, openingTurn(claim, wait));
  return claim.instanceId;
}

async function operate(store: Store, instanceId: string): Promise<Claim> {
  const answer = await store.claimOne({ ...claimRequest(instanceId), mode: 'operator' });
  if (answer.status !== 'claimed') throw new Error(answer.status);
  return answer.claim;
}

/** A gate that has timed out: strict, and its wait ends (RULINGS A11). */
function timeoutTurn(claim: Claim, wait: NewWait) {
  return turnOf(claim, {
    strict: true,
    rows: [row({ kind: 'escalation' })],
    frames: [write(frame({ cursor: 1 }))],
    settle: settleAs('scheduled', { dueAt: 1_802_332_800_000 }),
    audit: [auditEntry('waiting', 'scheduled')],
    outside: { ...NOTHING, waitsClosed: [wait.id] },
  });
}

const statusOf = async (store: Store, { id }: NewEvent) => (await store.getEvent(TENANT, id))?.status;
const inboxOf = async (store: Store, id: string) =>
  (await store.getFrontier(null, id))?.inbox.map(({ fact }) => fact.kind);

/** Events against waits: none is lost, none is consumed twice (RULINGS A4, A16; WAIT-2). */
describe('events against waits', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  it('of two events at once for one wait one is consumed, the other stays for the next wait [WAIT-2]', async () => {
    const [one, other] = [await sessions.open(), await sessions.open()];
    const { newWait, event } = scene();
    const id = await waitingFor(one.store, newWait());
    const [first, second] = [event(), event()];
    await one.begin();
    expect(await one.store.acceptEvent(first)).toMatchObject({ match: { satisfied: true } });
    const pending = other.store.acceptEvent(second);
    await other.untilBlocked();
    await one.commit();
    expect(await pending).toMatchObject({ match: null });
    expect([await statusOf(one.store, first), await statusOf(one.store, second)]).toEqual([
      'consumed',
      'pending',
    ]);
    expect(await inboxOf(one.store, id)).toEqual(['event']);
    expect(await one.store.acceptEvent(event())).toMatchObject({ match: null });
    const next = await waitingFor(one.store, newWait());
    expect(await inboxOf(one.store, next)).toEqual(['event']);
    expect(await statusOf(one.store, second)).toBe('consumed');
  });

  it('of two events at once that one wait needs both count [WAIT-3]', async () => {
    const [one, other] = [await sessions.open(), await sessions.open()];
    const { newWait, event } = scene();
    const wait = newWait({ names: ['paid', 'packed'], join: 'all', needed: 2 });
    const id = await waitingFor(one.store, wait);
    await one.begin();
    await one.store.acceptEvent(event('paid'));
    const pending = other.store.acceptEvent(event('packed'));
    await other.untilBlocked();
    await one.commit();
    expect(await pending).toMatchObject({ match: { waitId: wait.id, satisfied: true } });
    expect(await inboxOf(one.store, id)).toEqual(['event']);
  });

  it('two waits that are registered at once share one pending event with nobody: the first has it [WAIT-2]', async () => {
    const [one, other] = [await sessions.open(), await sessions.open()];
    const { newWait, event } = scene();
    await one.store.acceptEvent(event());
    const [first, second] = [await startClaimed(one.store), await startClaimed(other.store)];
    await one.begin();
    expect(await commitOne(one.store, openingTurn(first, newWait()))).toMatchObject({
      verdict: 'ok',
      granted: false,
    });
    const pending = commitOne(other.store, openingTurn(second, newWait()));
    await other.untilBlocked();
    await one.commit();
    expect(await pending).toMatchObject({ verdict: 'ok', granted: true, inbox: [] });
    expect(await inboxOf(one.store, first.instanceId)).toEqual(['event']);
    expect(await inboxOf(one.store, second.instanceId)).toEqual([]);
  });

  it('an event that comes while the wait is registered waits for it and satisfies it', async () => {
    const [turn, producer] = [await sessions.open(), await sessions.open()];
    const { newWait, event } = scene();
    const claim = await startClaimed(turn.store);
    await turn.begin();
    await commitOk(turn.store, openingTurn(claim, newWait()));
    const pending = producer.store.acceptEvent(event());
    await producer.untilBlocked();
    await turn.commit();
    expect(await pending).toMatchObject({ match: { instanceId: claim.instanceId, satisfied: true } });
    expect(await turn.store.getInstance(null, claim.instanceId)).toMatchObject({
      state: 'waiting',
      dueAt: (await turn.store.ping()).now,
    });
  });

  it('a wait that is registered while the event comes waits for it and takes it', async () => {
    const [producer, turn] = [await sessions.open(), await sessions.open()];
    const { newWait, event } = scene();
    const claim = await startClaimed(turn.store);
    await producer.begin();
    expect(await producer.store.acceptEvent(event())).toMatchObject({ match: null });
    const pending = commitOne(turn.store, openingTurn(claim, newWait()));
    await turn.untilBlocked();
    await producer.commit();
    expect(await pending).toMatchObject({
      verdict: 'ok',
      granted: false,
      inbox: [{ fact: { kind: 'event' } }],
    });
  });

  it('an event that came first wins over the timeout of its gate: the strict commit is refused (RULINGS A11)', async () => {
    const [producer, turn] = [await sessions.open(), await sessions.open()];
    const { newWait, event } = scene();
    const wait = newWait();
    const id = await waitingFor(turn.store, wait);
    const claim = await operate(turn.store, id);
    await producer.begin();
    await producer.store.acceptEvent(event());
    const pending = commitOne(turn.store, timeoutTurn(claim, wait));
    await turn.untilBlocked();
    await producer.commit();
    expect(await pending).toEqual({ verdict: 'refused' });
    expect(await inboxOf(turn.store, id)).toEqual(['event']);
  });

  it('an event that comes behind the timeout of a gate is left for the next wait and not lost [WAIT-6]', async () => {
    const [turn, producer] = [await sessions.open(), await sessions.open()];
    const { newWait, event } = scene();
    const wait = newWait();
    const id = await waitingFor(turn.store, wait);
    const younger = await waitingFor(turn.store, newWait());
    const claim = await operate(turn.store, id);
    await turn.begin();
    await commitOk(turn.store, timeoutTurn(claim, wait));
    const late = event();
    const pending = producer.store.acceptEvent(late);
    await producer.untilBlocked();
    await turn.commit();
    expect(await pending).toMatchObject({ match: { instanceId: younger } });
    expect(await inboxOf(turn.store, id)).toEqual([]);
  });

  it('the same event at once is one event (22.3)', async () => {
    const [one, other] = [await sessions.open(), await sessions.open()];
    const { event } = scene();
    const first = event();
    await one.begin();
    await one.store.acceptEvent(first);
    const elsewhere = { ...first, id: nextId(), correlationKey: `${first.correlationKey}-x` };
    const pending = other.store.acceptEvent(elsewhere);
    await other.untilBlocked();
    await one.commit();
    expect(await pending).toEqual({ eventId: first.id, duplicate: true, match: null });
  });

  it('an event, a signal and a new wait of one run get by without a deadlock (RULINGS A16)', async () => {
    const [signaller, producer, turn] = [await sessions.open(), await sessions.open(), await sessions.open()];
    const { newWait, event } = scene();
    const id = await waitingFor(turn.store, newWait());
    const claim = await operate(turn.store, id);
    const before = await sessions.deadlockCount();
    await signaller.begin();
    await signaller.store.signal(signalOf(id));
    const accepted = producer.store.acceptEvent(event());
    await producer.untilBlocked();
    const outside = { ...NOTHING, waits: [newWait({ blockId: 'second' })] };
    const committed = commitOne(turn.store, turnOf(claim, { rows: [row()], outside }));
    await turn.untilBlocked();
    await signaller.commit();
    expect(await accepted).toMatchObject({ match: { instanceId: id } });
    expect(await committed).toMatchObject({ verdict: 'ok', granted: false });
    expect(await sessions.deadlockCount()).toBe(before);
  });
});
