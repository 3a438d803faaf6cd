import { describe, expect, it } from 'vitest';
import { deploymentScene } from './deployments.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

describe('deployments in two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);
  it('the later one waits for the earlier one and comes above it', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    const { deploy, handlers } = deploymentScene();
    await one.begin();
    expect(await deploy(one.store, 1, 'old')).toBe('published');
    const later = deploy(two.store, 2, 'new');
    await two.untilBlocked();
    await one.commit();
    expect(await later).toBe('published');
    expect(await handlers(one.store)).toEqual(['new', 'old']);
  });

  it('the later one that found its content on top looks again when the earlier one has changed that', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    const { deploy, handlers } = deploymentScene();
    await deploy(one.store, 1, 'good');
    await one.begin();
    expect(await deploy(one.store, 2, 'bad')).toBe('published');
    const later = deploy(two.store, 3, 'good');
    await two.untilBlocked();
    await one.commit();
    expect(await later).toBe('published');
    expect(await handlers(one.store)).toEqual(['good', 'bad', 'good']);
  });

  it('the earlier one waits for the later one and leaves it on top', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    const { deploy, handlers } = deploymentScene();
    await one.begin();
    expect(await deploy(one.store, 2, 'new')).toBe('published');
    const earlier = deploy(two.store, 1, 'old');
    await two.untilBlocked();
    await one.commit();
    expect(await earlier).toBe('superseded');
    expect(await handlers(one.store)).toEqual(['new']);
  });

  it('the earlier one goes on when the later one comes to nothing', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    const { deploy, handlers } = deploymentScene();
    await one.begin();
    await deploy(one.store, 2, 'new');
    const earlier = deploy(two.store, 1, 'old');
    await two.untilBlocked();
    await one.rollback();
    expect(await earlier).toBe('published');
    expect(await handlers(one.store)).toEqual(['old']);
  });

  it('a version that is published by hand at the same moment stays below', async () => {
    const [one, two] = [await sessions.open(), await sessions.open()];
    const { deploy, publishByHand, handlers } = deploymentScene();
    await one.begin();
    expect(await publishByHand(one.store, 1, 'by_hand')).toBe('published');
    const deployment = deploy(two.store, 1, 'new');
    await two.untilBlocked();
    await one.commit();
    expect(await deployment).toBe('published');
    expect(await handlers(one.store)).toEqual(['new', 'by_hand']);
  });

  it('of many processes of one deployment exactly one publishes', async () => {
    const opened = await Promise.all(Array.from({ length: 6 }, () => sessions.open()));
    const { deploy, handlers } = deploymentScene();
    const [first] = opened;
    const outcomes = await Promise.all(opened.map(({ store }) => deploy(store, 5, 'new')));
    expect(outcomes.filter((outcome) => outcome === 'published')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'known')).toHaveLength(5);
    expect(first === undefined ? [] : await handlers(first.store)).toEqual(['new']);
    expect(await sessions.deadlockCount()).toBe(0);
  });
});
