import { expect, it } from 'vitest';
import { type ChangeCursor, type ChangesQuery } from '../../src/ports/store/changes.ts';
import { TENANT, auditEntry, settleAs, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

/** Registers what the feed of changes must do over any store (http-api.md 22). */
export function describeChangeFeed(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const read = (query: Partial<ChangesQuery> = {}) =>
    world.store.listChanges({ tenantId: TENANT, after: null, limit: 100, ...query });

  /** An instance that ran to its end, with two entries. */
  const completed = async (tenantId = TENANT): Promise<string> => {
    const id = await world.start({ tenantId });
    const claim = await world.claim(id, { tenantId });
    const audit = [
      auditEntry('running', 'waiting'),
      auditEntry('waiting', 'running'),
      auditEntry('running', 'completed'),
    ];
    await world.apply(turnOf(claim, { strict: true, audit, settle: settleAs('completed') }));
    await world.advance(1);
    return id;
  };

  it('entries come oldest first, those of one instant in the order of their ids', async () => {
    const ids = [await completed(), await completed()];
    const rows = await read();
    expect(rows.map(({ instanceId }) => instanceId)).toEqual(ids.flatMap((id) => [id, id, id]));
    expect(rows.slice(0, 3).map(({ toState }) => toState)).toEqual(['waiting', 'running', 'completed']);
    const places = rows.map(({ createdAt, id }) => `${createdAt}-${id}`);
    expect(places.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(places);
  });

  it('pages of any size follow each other without a gap or a repeat, also within one instant', async () => {
    await completed();
    await completed();
    const whole = await read();
    for (const limit of [1, 2, 4]) {
      const seen: string[] = [];
      let after: ChangeCursor | null = null;
      for (;;) {
        const page: Awaited<ReturnType<typeof read>> = await read({ after, limit });
        if (page.length === 0) break;
        seen.push(...page.map(({ id }) => id));
        after = page.at(-1) ?? null;
      }
      expect(seen).toEqual(whole.map(({ id }) => id));
    }
  });

  it('a cursor need not be the place of an entry', async () => {
    await completed();
    const [first] = await read();
    const at = first?.createdAt ?? 0;
    const nowhere = (createdAt: number) =>
      read({ after: { createdAt, id: '00000000-0000-0000-0000-000000000000' } });
    expect(await nowhere(at)).toHaveLength(3);
    expect(await nowhere(at + 1)).toEqual([]);
  });

  it('what may still be written with the present instant is held back (RULINGS A34)', async () => {
    const claim = await world.claim(await world.start());
    await world.apply(
      turnOf(claim, {
        audit: [auditEntry('running', 'waiting')],
        settle: settleAs('waiting', { openWaits: 1 }),
      }),
    );
    expect(await read()).toEqual([]);
    await world.advance(1);
    expect(await read()).toHaveLength(1);
  });

  it('a tenant sees its own entries only', async () => {
    await completed();
    await completed('dunes');
    expect((await read()).map(({ tenantId }) => tenantId)).toEqual([TENANT, TENANT, TENANT]);
    expect((await read({ tenantId: 'dunes' })).map(({ tenantId }) => tenantId)).toEqual([
      'dunes',
      'dunes',
      'dunes',
    ]);
    expect(await read({ tenantId: 'nobody' })).toEqual([]);
  });
}
