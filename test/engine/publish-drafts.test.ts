import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { digestOfDrafts, publishDrafts } from '../../src/engine/publish-drafts.ts';
import type { Store } from '../../src/ports/store/store.ts';

const clock = { nowMs: () => 1_802_332_800_000 };
const draft = (handler: string, more: JsonObject = {}): JsonObject => ({
  name: 'trip',
  blocks: [{ type: 'step', id: 'a', handler }],
  ...more,
});

describe('the sequences of a deployment', () => {
  let store: Store;
  const publish = (...drafts: readonly JsonObject[]) => publishDrafts({ store, clock }, 'saltmarsh', drafts);
  const versions = async () =>
    (await store.listVersions({ tenantId: 'saltmarsh', namespace: 'default', name: 'trip' })).map(
      ({ version }) => version,
    );

  beforeEach(() => {
    store = createMemoryStore({ now: clock.nowMs });
  });

  it('are published once, and a changed one becomes the next version', async () => {
    expect(await publish(draft('noop'))).toEqual([{ name: 'trip', outcome: 'published', version: 1 }]);
    expect(await publish(draft('noop'))).toEqual([{ name: 'trip', outcome: 'known' }]);
    expect(await publish(draft('log'))).toEqual([{ name: 'trip', outcome: 'published', version: 2 }]);
    // An older deployment beside the new one changes nothing.
    expect(await publish(draft('noop'))).toEqual([{ name: 'trip', outcome: 'known' }]);
    expect(await versions()).toEqual([2, 1]);
  });

  it('are published once by many processes at the same time', async () => {
    await publish(draft('log'));
    const all = await Promise.all([1, 2, 3, 4].map(() => publish(draft('noop'))));
    expect(all.flat().filter(({ outcome }) => outcome === 'published')).toHaveLength(1);
    expect(await versions()).toEqual([2, 1]);
  });

  it('go above versions that were deprecated', async () => {
    await publish(draft('noop'));
    const [first] = await store.listVersions({ tenantId: 'saltmarsh', namespace: 'default', name: 'trip' });
    await store.deprecateSequence('saltmarsh', first?.id ?? '');
    expect(await publish(draft('log'))).toEqual([{ name: 'trip', outcome: 'published', version: 2 }]);
  });

  it('keep a version that they name, and are refused when it is there with another content', async () => {
    expect(await publish(draft('noop', { version: 7 }))).toMatchObject([{ version: 7 }]);
    expect(await publish(draft('noop', { version: 7 }))).toMatchObject([{ outcome: 'known' }]);
    expect(await publish(draft('log', { version: 7 }))).toEqual([
      { name: 'trip', outcome: 'refused', problem: 'version 7 is there with another content' },
    ]);
  });

  it('are refused one by one with their problems', async () => {
    const [bad, good] = await publish({ name: 'bad', blocks: [{ type: 'step', id: 'a' }] }, draft('noop'));
    expect(bad).toMatchObject({
      name: 'bad',
      outcome: 'refused',
      problem: expect.stringContaining('handler'),
    });
    expect(good).toMatchObject({ outcome: 'published' });
  });

  it('have a digest that knows content and not the order of members', () => {
    const turned = { blocks: [{ handler: 'noop', id: 'a', type: 'step' }], name: 'trip' };
    const digest = digestOfDrafts('saltmarsh', [draft('noop')]);
    expect(digestOfDrafts('saltmarsh', [turned])).toBe(digest);
    expect(digestOfDrafts('dunes', [turned])).not.toBe(digest);
    expect(digestOfDrafts('saltmarsh', [draft('log')])).not.toBe(digest);
  });
});
