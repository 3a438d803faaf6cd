import { describe, expect, it } from 'vitest';
import { start } from './acts.ts';
import { leaveNote, noteCount, reserve, storeOfAttempt, takeKey } from './request-keys.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

const ANSWER = { status: 200, type: null, body: null };

describe('requests with a key in two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  it('the second of two at once waits for the first and finds it under way (RULINGS B13)', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    await one.begin();
    expect((await reserve(one.store, 'at-once')).status).toBe('taken');
    const second = reserve(two.store, 'at-once');
    await two.untilBlocked();
    await one.commit();
    expect(await second).toEqual({ status: 'running' });
  });

  it('the second of two at once goes first when the first comes to nothing (RULINGS B13)', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    await one.begin();
    await reserve(one.store, 'to-nothing');
    const second = reserve(two.store, 'to-nothing');
    await two.untilBlocked();
    await one.rollback();
    expect(await second).toMatchObject({ status: 'taken', number: 1 });
  });

  it('of many at once exactly one is carried out (RULINGS B13)', async () => {
    const opened = await Promise.all(Array.from({ length: 6 }, () => sessions.open()));
    const answers = await Promise.all(opened.map(({ store }) => reserve(store, 'many')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill('running'), 'taken']);
  });

  it('an attempt that makes a call which another one is making waits, and makes it no more', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    const id = await start(one.store);
    const first = await storeOfAttempt(one.store, await takeKey(one.store, 'twice', 0));
    const second = await storeOfAttempt(two.store, await takeKey(two.store, 'twice'));
    await one.begin();
    await leaveNote(first, id);
    const late = leaveNote(second, id);
    await two.untilBlocked();
    await one.commit();
    await late;
    expect(await noteCount(one.store, id)).toBe(1);
  });

  it('a call that was cut off before its end is made by the next attempt', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    const id = await start(one.store);
    const first = await storeOfAttempt(one.store, await takeKey(one.store, 'cut-off', 0));
    await one.begin();
    await leaveNote(first, id);
    await one.rollback();
    const second = await storeOfAttempt(two.store, await takeKey(two.store, 'cut-off'));
    await leaveNote(second, id);
    expect(await noteCount(two.store, id)).toBe(1);
  });

  it('the end of a request waits for a call that is being made', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    const id = await start(one.store);
    const attempt = await takeKey(one.store, 'ending', 0);
    const again = await takeKey(two.store, 'ending');
    await one.begin();
    await leaveNote(await storeOfAttempt(one.store, attempt), id);
    const ended = two.store.finishAttempt(again, ANSWER);
    await two.untilBlocked();
    await one.commit();
    expect(await ended).toEqual(ANSWER);
    expect(
      await two.rows('SELECT seed FROM stepwell.idempotency_calls WHERE seed = $1', [attempt.seed]),
    ).toEqual([]);
  });

  it('a call after the end of its request waits for the end and changes nothing', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    const id = await start(one.store);
    const attempt = await takeKey(one.store, 'ended', 0);
    const late = await storeOfAttempt(two.store, await takeKey(two.store, 'ended'));
    await one.begin();
    await one.store.finishAttempt(attempt, ANSWER);
    await two.begin();
    const note = leaveNote(late, id).catch((error: unknown) => error);
    await two.untilBlocked();
    await one.commit();
    expect(await note).toBeInstanceOf(Error);
    await two.rollback();
    expect(await noteCount(one.store, id)).toBe(0);
  });
});
