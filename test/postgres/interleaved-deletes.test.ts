import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/ports/store/store.ts';
import type { StartAnswer } from '../../src/ports/store/accept.ts';
import { TENANT, newInstance, nextId } from '../support/turn-builder.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

async function publish(store: Store): Promise<string> {
  const id = nextId();
  await store.insertSequence({
    id,
    tenantId: TENANT,
    namespace: 'shop',
    name: `s-${id}`,
    version: 1,
    status: 'production',
    deprecated: false,
    definition: {},
    contentHash: id,
  });
  return id;
}

const startOf = (store: Store, sequenceId: string): Promise<StartAnswer> =>
  store.start({ instances: [newInstance({ sequenceId })], onKnownKey: 'first', requireSequence: true });

describe('a start and the deletion of its sequence (VER-5)', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  it('a deletion waits for a start that came first, and then finds the sequence in use', async () => {
    const [starter, deleter] = [await sessions.open(), await sessions.open()];
    const sequenceId = await publish(starter.store);
    await starter.begin();
    expect((await startOf(starter.store, sequenceId)).status).toBe('ok');
    const deletion = deleter.store.deleteSequence(TENANT, sequenceId);
    await deleter.untilBlocked();
    await starter.commit();
    expect(await deletion).toBe('in_use');
    expect(await starter.store.getSequence(TENANT, sequenceId)).not.toBeNull();
  });

  it('a start waits for a deletion that came first, and then starts nothing', async () => {
    const [starter, deleter] = [await sessions.open(), await sessions.open()];
    const sequenceId = await publish(deleter.store);
    await deleter.begin();
    expect(await deleter.store.deleteSequence(TENANT, sequenceId)).toBe('deleted');
    const late = startOf(starter.store, sequenceId);
    await starter.untilBlocked();
    await deleter.commit();
    expect(await late).toEqual({ status: 'no_sequence' });
    expect(
      await starter.rows('SELECT 1 FROM stepwell.task_instances WHERE sequence_id = $1', [sequenceId]),
    ).toEqual([]);
  });
});
