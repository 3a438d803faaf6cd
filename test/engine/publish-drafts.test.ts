import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { publishDrafts } from '../../src/engine/publish-drafts.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { everyInterleaving } from './support/every-interleaving.ts';

const clock = { nowMs: () => 1_802_332_800_000 };
const NAME = { tenantId: 'saltmarsh', namespace: 'default', name: 'trip' };
const draft = (handler: string, more: JsonObject = {}): JsonObject => ({
  name: 'trip',
  blocks: [{ type: 'step', id: 'a', handler }],
  ...more,
});

let store: Store;
/** A deployment that was made at this instant; without one it publishes once, now. */
const deploy = (deployedAt: number | null, ...drafts: readonly JsonObject[]) =>
  publishDrafts({ store, clock }, 'saltmarsh', drafts, deployedAt);
const publish = (...drafts: readonly JsonObject[]) => deploy(null, ...drafts);
const listed = () =>
  store.listSequences({ tenantId: 'saltmarsh', namespace: null, name: 'trip', limit: 100, offset: 0 });
const versions = async () => (await listed()).map(({ version }) => version);
const newest = async () => (await store.findSequence({ ...NAME, version: null }))?.version;
/** The handlers of the versions, newest first. */
const handlers = async () =>
  (await listed()).map(({ definition }) => /"handler":"([^"]+)"/.exec(JSON.stringify(definition))?.[1]);
const outcomes = async (answer: ReturnType<typeof publish>) =>
  (await answer).map(({ outcome }) => outcome).join(' ');

beforeEach(() => {
  store = createMemoryStore({ now: clock.nowMs });
});

describe('the sequences of a deployment', () => {
  it('are published once, and a changed one becomes the next version', async () => {
    expect(await publish(draft('noop'))).toEqual([{ name: 'trip', outcome: 'published', version: 1 }]);
    expect(await publish(draft('noop'))).toEqual([{ name: 'trip', outcome: 'known' }]);
    expect(await publish(draft('log'))).toEqual([{ name: 'trip', outcome: 'published', version: 2 }]);
    expect(await versions()).toEqual([2, 1]);
  });

  it('become the newest version again when they are taken back to what they were', async () => {
    await publish(draft('good'));
    await publish(draft('bad'));
    expect(await publish(draft('good'))).toEqual([{ name: 'trip', outcome: 'published', version: 3 }]);
    expect(await handlers()).toEqual(['good', 'bad', 'good']);
  });

  it('are the same however they are written', async () => {
    await publish(draft('noop', { namespace: 'default', created_at: '2026-11-30T08:00:00Z' }));
    const turned = { blocks: [{ handler: 'noop', id: 'a', type: 'step', retry: null }], name: 'trip' };
    expect(await outcomes(publish(turned))).toBe('known');
  });

  it('change with each member that their author writes, the status too', async () => {
    await publish(draft('noop', { status: 'staging' }));
    expect(await outcomes(publish(draft('noop', { status: 'production' })))).toBe('published');
    expect((await store.findSequence({ ...NAME, version: null }))?.status).toBe('production');
  });

  it('are no news when somebody has published the same by hand', async () => {
    await publish(draft('noop', { version: 4 }));
    expect(await outcomes(publish(draft('noop')))).toBe('known');
    expect(await versions()).toEqual([4]);
  });

  it('are published once by many processes at the same time', async () => {
    await publish(draft('log'));
    const all = await Promise.all([1, 2, 3, 4].map(() => publish(draft('noop'))));
    expect(all.flat().filter(({ outcome }) => outcome === 'published')).toHaveLength(1);
    expect(await versions()).toEqual([2, 1]);
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

  it('are refused when two have one name', async () => {
    expect(await outcomes(publish(draft('noop'), draft('log')))).toBe('published refused');
    expect(await outcomes(publish(draft('a', { version: 7 }), draft('b', { version: 8 })))).toBe(
      'published published',
    );
  });
});

describe('sequences that name a version or an id', () => {
  it('keep the version, and are refused when it is there with another content', async () => {
    expect(await publish(draft('noop', { version: 7 }))).toMatchObject([{ version: 7 }]);
    expect(await publish(draft('noop', { version: 7 }))).toMatchObject([{ outcome: 'known' }]);
    expect(await publish(draft('log', { version: 7 }))).toEqual([
      { name: 'trip', outcome: 'refused', problem: 'version 7 is there with another content' },
    ]);
  });

  it('are refused when their id is there with another content, and not left out in silence', async () => {
    const id = '0195e0a0-0000-7000-8000-000000000001';
    expect(await outcomes(publish(draft('noop', { id })))).toBe('published');
    expect(await outcomes(publish(draft('noop', { id })))).toBe('known');
    const problem = `id ${id} is there with another content`;
    expect(await publish(draft('log', { id }))).toEqual([{ name: 'trip', outcome: 'refused', problem }]);
    expect(await publish(draft('log', { id, version: 2 }))).toMatchObject([{ problem }]);
  });
});

describe('what was done by hand between two deployments', () => {
  it('stays when the second brings what the first has brought: a fix, a deprecation, an unpublishing', async () => {
    await publish(draft('bad'));
    await store.insertSequence({ ...(await sequenceOf(2, 'fix')) });
    expect(await outcomes(publish(draft('bad')))).toBe('known');
    expect(await newest()).toBe(2);
    const [fix] = await listed();
    await store.deprecateSequence('saltmarsh', fix?.id ?? '');
    expect(await outcomes(publish(draft('bad')))).toBe('known');
    const first = await store.findSequence({ ...NAME, version: 1 });
    await store.setSequenceStatus('saltmarsh', first?.id ?? '', 'production', 'unpublished');
    expect(await outcomes(publish(draft('bad')))).toBe('known');
    expect(await newest()).toBeUndefined();
  });

  it('gives way when the second brings what was published and deprecated by hand', async () => {
    await publish(draft('first'));
    await store.insertSequence({ ...(await sequenceOf(2, 'second')), deprecated: true });
    expect(await publish(draft('second'))).toEqual([{ name: 'trip', outcome: 'published', version: 3 }]);
    expect(await newest()).toBe(3);
  });

  it('gives way when the second brings another content, above all versions that were deprecated', async () => {
    await publish(draft('bad'));
    const [bad] = await listed();
    await store.deprecateSequence('saltmarsh', bad?.id ?? '');
    await store.insertSequence(await sequenceOf(2, 'fix'));
    expect(await publish(draft('good'))).toEqual([{ name: 'trip', outcome: 'published', version: 3 }]);
    expect(await newest()).toBe(3);
  });

  it('is made up for when every version was deleted', async () => {
    await publish(draft('noop'));
    const [only] = await listed();
    await store.deleteSequence('saltmarsh', only?.id ?? '');
    expect(await outcomes(publish(draft('noop')))).toBe('published');
  });

  /** A version as the API stores it. */
  async function sequenceOf(version: number, handler: string) {
    const other = createMemoryStore({ now: clock.nowMs });
    await publishDrafts({ store: other, clock }, 'saltmarsh', [draft(handler, { version })]);
    const found = await other.findSequence({ ...NAME, version });
    if (found === null) throw new Error('nothing was published');
    const { createdAt: _createdAt, ...sequence } = found;
    return sequence;
  }
});

describe('deployments side by side', () => {
  it('leave the later one on top when the earlier one comes late', async () => {
    expect(await outcomes(deploy(2, draft('new')))).toBe('published');
    expect(await outcomes(deploy(1, draft('old')))).toBe('superseded');
    expect(await outcomes(deploy(2, draft('new')))).toBe('known');
    expect(await handlers()).toEqual(['new']);
  });

  it('leave the later one on top when the earlier one comes first, although the later one was made before that', async () => {
    await deploy(1, draft('old'));
    await deploy(2, draft('new'));
    expect(await handlers()).toEqual(['new', 'old']);
  });

  it('leave the latest on top when it brought nothing new, and one between comes late', async () => {
    await deploy(1, draft('good'));
    expect(await outcomes(deploy(3, draft('good')))).toBe('known');
    expect(await outcomes(deploy(2, draft('bad')))).toBe('superseded');
    expect(await handlers()).toEqual(['good']);
  });

  it('leave the latest on top in whatever order their calls of the database come', async () => {
    const seen = new Set<string>();
    const deployments = [
      { at: 1, handler: 'good' },
      { at: 2, handler: 'bad' },
      { at: 3, handler: 'good' },
    ];
    const count = await everyInterleaving(async (stepped) => {
      store = createMemoryStore({ now: clock.nowMs });
      const bring = (handler: string, at: number, within: Pick<Store, keyof Steps>) =>
        publishDrafts({ store: within, clock }, 'saltmarsh', [draft(handler)], at);
      await stepped(
        deployments.map(
          ({ at, handler }) =>
            (step) =>
              bring(handler, at, calls(store, step)),
        ),
      );
      const all = await handlers();
      expect(all[0]).toBe('good');
      expect(all.length).toBeLessThanOrEqual(3);
      seen.add(all.join(' '));
    });
    expect(count).toBeGreaterThan(50);
    expect([...seen].toSorted()).toEqual(['good', 'good bad', 'good bad good']);
  });
});

type Steps = Pick<Store, 'findSequence' | 'insertSequence' | 'publishDeployed'>;

/** The store, each call of which waits for its step. */
function calls(all: Store, step: <T>(call: () => Promise<T>) => Promise<T>): Steps {
  return {
    findSequence: (name) => step(() => all.findSequence(name)),
    insertSequence: (sequence) => step(() => all.insertSequence(sequence)),
    publishDeployed: (deployed) => step(() => all.publishDeployed(deployed)),
  };
}
