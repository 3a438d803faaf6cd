import { expect, it } from 'vitest';
import type { NewSession } from '../../src/ports/store/sessions.ts';
import { TENANT, child, nextId, turnOf } from '../support/turn-builder.ts';
import { removeExpired } from './remove-expired.ts';
import type { MakeStore } from './store-under-test.ts';

import { useWorld } from './world.ts';

function newSession(overrides: Partial<NewSession> = {}): NewSession {
  return {
    id: nextId(),
    tenantId: TENANT,
    sessionKey: 'shopper-118',
    data: { lang: 'pt' },
    expiresAt: null,
    ...overrides,
  };
}

export function describeSessions(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  async function add(overrides: Partial<NewSession> = {}): Promise<string> {
    const session = newSession(overrides);
    expect(await world.store.insertSession(session)).toBe('created');
    return session.id;
  }

  it('a session is read back by its id and by its key', async () => {
    const given = newSession({ expiresAt: (await world.now()) + 5, data: [1, null] });
    expect(await world.store.insertSession(given)).toBe('created');
    const now = await world.now();
    const record = { ...given, state: 'active', createdAt: now, updatedAt: now };
    expect(await world.store.getSession(TENANT, given.id)).toEqual(record);
    expect(await world.store.getSession(null, given.id)).toEqual(record);
    expect(await world.store.findSession(TENANT, given.sessionKey)).toEqual(record);
    expect(await world.store.getSession('other', given.id)).toBeNull();
    expect(await world.store.findSession('other', given.sessionKey)).toBeNull();
    expect(await world.store.getSession(null, nextId())).toBeNull();
  });

  it('a key names one session of a tenant; the same request again is no conflict', async () => {
    const session = newSession();
    expect(await world.store.insertSession(session)).toBe('created');
    expect(await world.store.insertSession(session)).toBe('created');
    expect(await world.store.insertSession(newSession())).toBe('exists');
    await add({ tenantId: 'other' });
    await add({ sessionKey: 'shopper-119' });
  });

  it('data and state change apart from each other, by their tenant', async () => {
    const id = await add();
    await world.advance(5);
    expect(await world.store.setSessionData('other', id, 1)).toBe(false);
    expect(await world.store.setSessionState('other', id, 'paused')).toBe(false);
    expect(await world.store.setSessionData(null, nextId(), 1)).toBe(false);
    expect(await world.store.setSessionData(TENANT, id, null)).toBe(true);
    expect(await world.store.getSession(null, id)).toMatchObject({
      ...{ data: null, state: 'active', updatedAt: await world.now() },
    });
    for (const state of ['completed', 'active', 'expired', 'paused'] as const) {
      expect(await world.store.setSessionState(null, id, state)).toBe(true);
      expect(await world.store.getSession(null, id)).toMatchObject({ data: null, state });
    }
  });

  it('its instances are listed oldest first, children included [SUB-3]', async () => {
    const id = await add();
    const parent = await world.start({ sessionId: id });
    await world.advance(1);
    const claim = await world.claim(parent);
    const started = child();
    await world.apply(turnOf(claim, { childrenStarted: [started] }));
    await world.advance(1);
    const later = await world.start({ sessionId: id });
    await world.start();
    const list = async (limit: number, offset = 0) =>
      (await world.store.listSessionInstances(TENANT, id, { limit, offset }))?.map((instance) => instance.id);
    expect(await list(10)).toEqual([parent, started.id, later]);
    expect(await list(2)).toEqual([parent, started.id]);
    expect(await list(2, 1)).toEqual([started.id, later]);
    expect(await list(2, 9)).toEqual([]);
    expect(await world.store.listSessionInstances('other', id, { limit: 10, offset: 0 })).toBeNull();
    expect(await world.store.listSessionInstances(null, nextId(), { limit: 10, offset: 0 })).toBeNull();
    expect(
      await world.store.listSessionInstances(null, await add({ sessionKey: 'k' }), { limit: 10, offset: 0 }),
    ).toEqual([]);
  });

  it('a session that is over becomes expired, but not one that was completed', async () => {
    const expiresAt = (await world.now()) + 1_000;
    const [open, done, open2] = [
      await add({ expiresAt, sessionKey: 'a' }),
      await add({ expiresAt, sessionKey: 'b' }),
      await add({ sessionKey: 'c' }),
    ];
    await world.store.setSessionState(null, done, 'completed');
    await world.advance(999);
    await removeExpired(world, 10);
    expect(await world.store.getSession(null, open)).toMatchObject({ state: 'active' });
    await world.advance(1);
    expect(await removeExpired(world, 10)).toBe(1);
    expect(await world.store.getSession(null, open)).toMatchObject({ state: 'expired' });
    expect(await world.store.getSession(null, done)).toMatchObject({ state: 'completed' });
    expect(await world.store.getSession(null, open2)).toMatchObject({ state: 'active' });
  });
}
