import { expect, it } from 'vitest';
import { TENANT, nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describeBudgets(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('usage and caps are columns that a commit changes and a claim reads [BUD-2]', async () => {
    const claim = await world.claim(await world.start({ budget: { max_steps: 3 } }));
    expect(claim.instance).toMatchObject({ budget: { max_steps: 3 }, usage: null });
    const usage = { externalCalls: 2, stepsAllowed: null };
    await world.apply(turnOf(claim, { instance: { usage, budget: { max_steps: 9 } } }));
    expect(await world.view(claim.instanceId)).toMatchObject({ usage, budget: { max_steps: 9 } });
  });

  it('new caps are a fact for a live instance and apply at once to an ended one [BUD-4]', async () => {
    const id = await world.start();
    const request = { tenantId: TENANT, instanceId: id, factId: nextId(), budget: { max_steps: 5 } };
    expect(await world.store.setBudget(request)).toBe('accepted');
    expect(await world.store.setBudget(request)).toBe('accepted');
    const claim = await world.claim(id);
    expect(claim.inbox.map(({ fact }) => fact)).toEqual([
      { kind: 'context', sections: {}, mode: 'replace', budget: { max_steps: 5 } },
    ]);
    const inboxDone = claim.inbox.map(({ seq }) => ({ seq, disposition: 'applied' as const }));
    await world.apply(turnOf(claim, { inboxDone, settle: settleAs('completed') }));
    expect(await world.store.setBudget({ ...request, factId: nextId() })).toBe('applied');
    expect(await world.view(id)).toMatchObject({ budget: { max_steps: 5 } });
    expect(await world.store.setBudget({ ...request, tenantId: 'other' })).toBe('not_found');
    expect(await world.store.setBudget({ ...request, instanceId: nextId() })).toBe('not_found');
  });
}
