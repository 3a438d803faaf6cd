import { expect, it } from 'vitest';
import type { KeyAttempt, KeyReservation, ReservedKey } from '../../src/ports/store/idempotency.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { StoreUnavailable } from '../../src/ports/store/store.ts';
import { TENANT, newInstance, nextId } from '../support/turn-builder.ts';
import { removeExpired } from './remove-expired.ts';
import type { MakeStore } from './store-under-test.ts';

import { useWorld } from './world.ts';

const DAY_MS = 86_400_000;
const ANSWER = { status: 201, type: 'application/json', body: '{"id":"é\\u0000"}' };

function reservation(overrides: Partial<KeyReservation> = {}): KeyReservation {
  const request = { tenantId: TENANT, keyHash: 'hash-1', fingerprint: 'print-1' };
  return { ...request, seed: nextId(), leaseMs: 1000, ...overrides };
}

export function describeIdempotency(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  const reserve = (overrides: Partial<KeyReservation> = {}): Promise<ReservedKey> =>
    world.store.reserveKey(reservation(overrides));

  async function take(overrides: Partial<KeyReservation> = {}): Promise<KeyAttempt> {
    const asked = reservation(overrides);
    const reserved = await world.store.reserveKey(asked);
    if (reserved.status !== 'taken') throw new Error(reserved.status);
    const { tenantId, keyHash } = asked;
    return { tenantId, keyHash, seed: reserved.seed, number: reserved.number };
  }

  const storeOf = async (attempt: KeyAttempt, scope = ''): Promise<Store> =>
    (await world.store.openAttempt(attempt)).of(scope);

  async function instanceCount(): Promise<number> {
    const all = { tenantId: TENANT, namespace: null, sequenceId: null, states: [], metadata: [] };
    return (await world.store.listInstances({ ...all, limit: 100, offset: 0 })).length;
  }

  it('a key is one attempt’s until its lease is over; the next one gets the first seed', async () => {
    const first = await take();
    expect(first.number).toBe(1);
    expect(await reserve()).toEqual({ status: 'running' });
    await world.advance(999);
    expect(await reserve()).toEqual({ status: 'running' });
    await world.advance(1);
    expect(await reserve()).toEqual({ status: 'taken', seed: first.seed, number: 2 });
    expect(await reserve()).toEqual({ status: 'running' });
  });

  it('the reservation of a lost answer is the same attempt', async () => {
    const seed = nextId();
    expect(await reserve({ seed })).toEqual({ status: 'taken', seed, number: 1 });
    expect(await reserve({ seed })).toEqual({ status: 'taken', seed, number: 1 });
  });

  it('the requests of a process that is gone may be made again at once (RULINGS B18)', async () => {
    const first = await take();
    expect(await world.store.voidAllLeases()).toBe(0);
    expect(await reserve({ fingerprint: 'print-2' })).toEqual({ status: 'mismatch' });
    expect(await take()).toEqual({ ...first, number: 2 });
  });

  it('tenants have keys of their own, and so have callers of none', async () => {
    for (const tenantId of [TENANT, 'other', '']) {
      expect(await reserve({ tenantId })).toMatchObject({ status: 'taken', number: 1 });
    }
    expect(await reserve({ keyHash: 'hash-2' })).toMatchObject({ status: 'taken', number: 1 });
  });

  it('another request is told apart: under way, after a crash and after the answer', async () => {
    const attempt = await take();
    const other = { fingerprint: 'print-2' };
    expect(await reserve(other)).toEqual({ status: 'mismatch' });
    await world.advance(1000);
    expect(await reserve(other)).toEqual({ status: 'mismatch' });
    await world.store.finishAttempt(attempt, ANSWER);
    expect(await reserve(other)).toEqual({ status: 'mismatch' });
  });

  it('an answer is kept for a day and not longer', async () => {
    const attempt = await take();
    await world.advance(500);
    expect(await world.store.finishAttempt(attempt, ANSWER)).toEqual(ANSWER);
    await world.advance(DAY_MS - 1);
    expect(await removeExpired(world, 10)).toBe(0);
    expect(await reserve()).toEqual({ status: 'answered', answer: ANSWER });
    await world.advance(1);
    const seed = nextId();
    expect(await reserve({ seed, fingerprint: 'print-2' })).toEqual({ status: 'taken', seed, number: 1 });
  });

  it('keys whose time is over are removed in bounded numbers', async () => {
    for (const keyHash of ['a', 'b', 'c']) await take({ keyHash });
    await world.advance(DAY_MS);
    const late = await take({ keyHash: 'd' });
    expect(await removeExpired(world, 2)).toBe(2);
    expect(await removeExpired(world, 10)).toBe(1);
    expect(await world.store.finishAttempt(late, ANSWER)).toEqual(ANSWER);
  });

  it('of two attempts the first to end counts', async () => {
    const first = await take();
    await world.advance(1000);
    const second = await take();
    expect(await world.store.finishAttempt(second, ANSWER)).toEqual(ANSWER);
    const late = { status: 409, type: null, body: null };
    expect(await world.store.finishAttempt(first, late)).toEqual(ANSWER);
    expect(await reserve()).toEqual({ status: 'answered', answer: ANSWER });
  });

  it('a key that was given back is free, with its seed for the same request and afresh for another', async () => {
    const first = await take();
    await world.store.releaseAttempt(first);
    const second = await take();
    expect(second).toEqual({ ...first, number: 2 });
    await world.store.releaseAttempt(first);
    expect(await reserve()).toEqual({ status: 'running' });
    await world.store.releaseAttempt(second);
    const seed = nextId();
    expect(await reserve({ seed, fingerprint: 'print-2' })).toEqual({ status: 'taken', seed, number: 1 });
    expect(await world.store.finishAttempt(second, ANSWER)).toBeNull();
  });

  it('an attempt after a crash is told what the one before was told, and does nothing twice', async () => {
    const request = { instances: [newInstance()], onKnownKey: 'first' as const };
    const started = await (await storeOf(await take())).start(request);
    await world.advance(1000);
    const again = await storeOf(await take());
    expect(await again.start(request)).toEqual(started);
    expect(await instanceCount()).toBe(1);
    expect((await again.start({ instances: [newInstance()], onKnownKey: 'first' })).status).toBe('ok');
    expect(await instanceCount()).toBe(2);
  });

  it('what was read before a change is read again as it was, and what was read after it as it is', async () => {
    const session = { id: nextId(), tenantId: TENANT, sessionKey: 'k', data: 'before', expiresAt: null };
    await world.store.insertSession(session);
    const play = async (attempt: KeyAttempt) => {
      const store = await storeOf(attempt);
      const before = await store.getSession(TENANT, session.id);
      expect(await store.setSessionData(TENANT, session.id, 'by the request')).toBe(true);
      const after = await store.getSession(TENANT, session.id);
      return [before?.data, after?.data];
    };
    expect(await play(await take())).toEqual(['before', 'by the request']);
    await world.store.setSessionData(TENANT, session.id, 'by another');
    await world.advance(1000);
    expect(await play(await take())).toEqual(['before', 'by another']);
  });

  it('what nothing followed is read afresh by the next attempt', async () => {
    const first = await take();
    expect(await (await storeOf(first)).listApiKeys(TENANT)).toEqual([]);
    await world.store.releaseAttempt(first);
    await world.store.insertApiKey(apiKey());
    expect(await (await storeOf(await take())).listApiKeys(TENANT)).toHaveLength(1);
  });

  it('scopes are told apart, whatever their order', async () => {
    const first = await world.store.openAttempt(await take());
    const session = (sessionKey: string) => ({
      ...{ id: nextId(), tenantId: TENANT, data: null, expiresAt: null },
      sessionKey,
    });
    expect(await first.of('a').insertSession(session('k'))).toBe('created');
    expect(await first.of('b').insertSession(session('k'))).toBe('exists');
    await world.advance(1000);
    const second = await world.store.openAttempt(await take());
    expect(await second.of('b').insertSession(session('k'))).toBe('exists');
    expect(await second.of('a').insertSession(session('k'))).toBe('created');
  });

  it('an attempt changes nothing after its request has ended', async () => {
    const first = await take();
    const late = await storeOf(first);
    await world.advance(1000);
    await world.store.finishAttempt(await take(), ANSWER);
    const start = late.start({ instances: [newInstance()], onKnownKey: 'first' });
    await expect(start).rejects.toThrow(StoreUnavailable);
    expect(await instanceCount()).toBe(0);
  });

  it('two attempts side by side make a call once', async () => {
    const first = await take();
    await world.advance(1000);
    const second = await take();
    const request = { instances: [newInstance()], onKnownKey: 'first' as const };
    const stores = [await storeOf(first), await storeOf(second)];
    const answers = await Promise.all(stores.map((store) => store.start(request)));
    expect(answers[0]).toEqual(answers[1]);
    expect(await instanceCount()).toBe(1);
  });
}

function apiKey() {
  const key = { id: 'ak_1', tenantId: TENANT, name: 'n', capabilities: ['operator' as const] };
  return { ...key, secretHash: 'h', expiresAt: null };
}
