import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { createDefinitions, createPlanMemory } from '../../src/engine/definitions.ts';
import { StoreUnavailable } from '../../src/ports/store/store.ts';
import type { SequenceRecord } from '../../src/ports/store/catalog.ts';
import { sequence } from '../support/turn-builder.ts';

/** A catalog that counts what is read, and answers when it is told to. */
function catalog(sizes: Readonly<Record<string, number>>) {
  const reads: string[] = [];
  const held: (() => void)[] = [];
  const state = { hold: false, failing: false };
  const definitionOf = (id: string): JsonObject => ({
    id: '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44',
    tenant_id: 'saltmarsh',
    namespace: 'fulfilment',
    name: id,
    version: 1,
    created_at: '2027-02-01T09:00:00.000Z',
    blocks: [{ type: 'step', id: 'a', handler: 'noop', params: 'x'.repeat(sizes[id] ?? 0) }],
  });
  const store = {
    async getSequence(_tenantId: string | null, id: string): Promise<SequenceRecord | null> {
      reads.push(id);
      if (state.failing) throw new StoreUnavailable('down', { unknown: false });
      if (state.hold) await new Promise<void>((resolve) => held.push(resolve));
      return sizes[id] === undefined ? null : { ...sequence({ definition: definitionOf(id) }), createdAt: 0 };
    },
    listShapeChanges: () => Promise.resolve([]),
  };
  const release = (): void => {
    state.hold = false;
    for (const resolve of held.splice(0)) resolve();
  };
  return { store, reads, state, release };
}

const KILO = 1000;

describe('definitions (RULINGS B14)', () => {
  it('are read and compiled once, also when several ask at the same time', async () => {
    const { store, reads } = catalog({ s: 10 });
    const definitions = createDefinitions(store);
    const plans = await Promise.all([definitions.plan('t', 's'), definitions.plan('t', 's')]);
    expect(plans[0]).toBe(plans[1]);
    expect(await definitions.plan('t', 's')).toBe(plans[0]);
    expect(reads).toEqual(['s']);
  });

  it('are kept apart by tenant', async () => {
    const { store, reads } = catalog({ s: 10 });
    const definitions = createDefinitions(store);
    await definitions.plan('t', 's');
    await definitions.plan('u', 's');
    expect(reads).toEqual(['s', 's']);
  });

  it('what is not there, or could not be read, is asked for again', async () => {
    const { store, reads, state } = catalog({ s: 10 });
    const definitions = createDefinitions(store);
    expect(await definitions.plan('t', 'gone')).toBeNull();
    expect(await definitions.plan('t', 'gone')).toBeNull();
    state.failing = true;
    await expect(definitions.plan('t', 's')).rejects.toBeInstanceOf(StoreUnavailable);
    state.failing = false;
    expect(await definitions.plan('t', 's')).not.toBeNull();
    expect(reads).toEqual(['gone', 'gone', 's', 's']);
  });

  it('the one that was not used for longest makes room', async () => {
    const { store, reads } = catalog({ a: 3 * KILO, b: 3 * KILO, c: 3 * KILO });
    const definitions = createDefinitions(store, createPlanMemory(7 * KILO));
    for (const id of ['a', 'b', 'a', 'c']) await definitions.plan('t', id);
    reads.length = 0;
    for (const id of ['a', 'c', 'b']) await definitions.plan('t', id);
    expect(reads).toEqual(['b']);
  });

  it('one that is larger than all room is kept until the next one comes', async () => {
    const { store, reads } = catalog({ a: 9 * KILO, b: KILO });
    const definitions = createDefinitions(store, createPlanMemory(5 * KILO));
    for (const id of ['a', 'a', 'b', 'b', 'a']) await definitions.plan('t', id);
    expect(reads).toEqual(['a', 'b', 'a']);
  });

  it('are counted rightly when one makes room while it is still being read', async () => {
    const { store, reads, state, release } = catalog({ a: 3 * KILO, b: 3 * KILO, c: 3 * KILO, d: 3 * KILO });
    const definitions = createDefinitions(store, createPlanMemory(7 * KILO));
    state.hold = true;
    const slow = definitions.plan('t', 'a');
    state.hold = false;
    for (const id of ['b', 'c', 'd']) await definitions.plan('t', id);
    release();
    await slow;
    for (const id of ['c', 'd']) await definitions.plan('t', id);
    reads.length = 0;
    for (let round = 0; round < 3; round += 1) {
      for (const id of ['c', 'd']) await definitions.plan('t', id);
    }
    expect(reads).toEqual([]);
  });
});
