import { expect, it } from 'vitest';
import type { PatchContextRequest } from '../../src/ports/store/accept.ts';
import { auditEntry, nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import { ENDED_STATES, LIVE_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describeContextPatches(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const patchOf = (
    instanceId: string,
    overrides: Partial<PatchContextRequest> = {},
  ): PatchContextRequest => ({
    tenantId: null,
    instanceId,
    factId: nextId(),
    sections: { data: { b: 2 } },
    mode: 'replace',
    maxContextBytes: 0,
    ...overrides,
  });

  for (const state of LIVE_STATES) {
    it(`a patch of a ${state} instance goes through its inbox and wakes it [CTX-3] (RULINGS A6)`, async () => {
      const id = await world.inState(state);
      const before = await world.view(id);
      await world.advance(2);
      const patch = patchOf(id, { mode: 'merge' });
      expect(await world.store.patchContext(patch)).toBe('accepted');
      const frontier = await world.frontier(id);
      expect(frontier.instance).toMatchObject({ state, data: {}, nextFireAt: before.nextFireAt });
      expect(frontier.instance.dueAt).toBe(Math.min(before.dueAt ?? Infinity, await world.now()));
      expect(frontier.inbox).toMatchObject([
        { id: patch.factId, fact: { kind: 'context', mode: 'merge', sections: { data: { b: 2 } } } },
      ]);
    });
  }

  for (const state of ENDED_STATES) {
    it(`a patch of a ${state} instance is applied at once, section by section [CTX-3]`, async () => {
      const id = await endedWith(state, { data: { a: 1 }, config: { c: 1 }, audit: [{ x: 1 }] });
      expect(await world.store.patchContext(patchOf(id))).toBe('applied');
      expect(await world.view(id)).toMatchObject({ state, config: { c: 1 }, audit: [{ x: 1 }], dueAt: null });
      expect((await world.view(id)).data).toEqual({ b: 2 });
    });
  }

  it('a merge goes per top-level key [CTX-4]', async () => {
    const id = await endedWith('completed', { data: { a: { x: 1 }, keep: 1 }, config: { c: 1 } });
    const sections = { data: { a: { y: 2 }, nothing: null }, config: { d: 2 } };
    await world.store.patchContext(patchOf(id, { mode: 'merge', sections }));
    const view = await world.view(id);
    expect(view.data).toEqual({ a: { y: 2 }, keep: 1, nothing: null });
    expect(view.config).toEqual({ c: 1, d: 2 });
  });

  it('a merge into data that is no object begins with an empty one [CTX-2]', async () => {
    const id = await endedWith('completed', { data: 'text' });
    await world.store.patchContext(patchOf(id, { mode: 'merge' }));
    expect((await world.view(id)).data).toEqual({ b: 2 });
  });

  for (const state of ['scheduled', 'completed'] as const) {
    it(`a patch that would make the context of a ${state} instance too large is not recorded [CTX-1]`, async () => {
      const id = await world.inState(state);
      const sections = { data: { text: 'x'.repeat(200) } };
      expect(await world.store.patchContext(patchOf(id, { sections, maxContextBytes: 100 }))).toBe(
        'too_large',
      );
      expect((await world.frontier(id)).inbox).toEqual([]);
      expect((await world.view(id)).data).toEqual({});
      expect(await world.store.patchContext(patchOf(id, { sections, maxContextBytes: 300 }))).not.toBe(
        'too_large',
      );
    });
  }

  it('a repeated patch is accepted once (RULINGS A36)', async () => {
    const id = await world.start();
    const patch = patchOf(id);
    await world.store.patchContext(patch);
    expect(await world.store.patchContext(patch)).toBe('accepted');
    expect((await world.frontier(id)).inbox).toHaveLength(1);
  });

  it('a patch of an unknown instance or one of another tenant finds nothing', async () => {
    const id = await world.start();
    expect(await world.store.patchContext(patchOf(nextId()))).toBe('not_found');
    expect(await world.store.patchContext(patchOf(id, { tenantId: 'other' }))).toBe('not_found');
  });

  async function endedWith(
    state: (typeof ENDED_STATES)[number],
    overrides: Parameters<typeof world.start>[0],
  ): Promise<string> {
    const id = await world.start(overrides);
    const audit = [auditEntry('running', state)];
    await world.apply(turnOf(await world.claim(id), { audit, settle: settleAs(state) }));
    return id;
  }
}
