import { describe, expect, it } from 'vitest';
import type { Said } from '../../src/ports/store/sweeps.ts';
import { newInstance, nextId } from '../support/turn-builder.ts';
import { dueRequest } from '../store-contract/world.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';

const SAID: Said = {
  announcement: {
    buildId: 'b-1',
    handlers: [{ name: 'charge', kind: 'effect' }],
    within: { announcedWithinMs: 90_000, polledWithinMs: 120_000 },
  },
  beat: { id: nextId(), name: 'north', silentMs: 120_000 },
};

describe('the look of a sweep beside others [SWEEP-1]', () => {
  const sessions = useSessions(MIGRATED);

  it('waits for no claim, and sees what it has not committed as due', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    await first.store.start({ instances: [newInstance()], onKnownKey: 'first' });
    await first.begin();
    expect((await first.store.claimDue(dueRequest())).claims).toHaveLength(1);
    const { dueAt, now } = await second.store.lookForWork(SAID);
    expect(dueAt).toBeLessThanOrEqual(now);
    expect((await second.store.claimDue(dueRequest())).claims).toEqual([]);
    await first.commit();
    expect((await second.store.lookForWork({})).dueAt).toBeNull();
  });

  it('of two processes that are one node comes one after the other', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    await first.begin();
    expect((await first.store.lookForWork(SAID)).drains).toBe(false);
    const pending = second.store.lookForWork(SAID);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toMatchObject({ drains: false, live: { announced: ['charge'] } });
  });
});
