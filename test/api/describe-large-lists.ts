import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreUnderTest } from '../store-contract/store-under-test.ts';
import { compareInstances } from '../../src/engine/compare-instances.ts';
import { listDeadLetterGroups } from '../../src/engine/dead-letters/groups.ts';
import { followInstance } from '../../src/engine/streams/instance-stream.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import { frame, newInstance, nextId, row, settleAs, turnOf, write } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, TENANT } from './support/api-fixture.ts';

const RUNS = 300;
const MIB = 1024 * 1024;
/** The database keeps it in a few bytes: what counts is what would be sent. */
const LARGE = { text: 'x'.repeat(200 * 1024) };
const CHECKPOINTS = 100;

/** The most that a page brings, and what is around it. */
const PAGE_BYTES = 4 * MIB + 64 * 1024;

/**
 * Registers the tests of lists whose rows are large together, over one kind of store.
 *
 * @param broughtBytes What the database has sent so far, where that can be told.
 */
export function describeLargeLists(
  fresh: () => Promise<StoreUnderTest>,
  broughtBytes: () => number | null = () => null,
): void {
  let api: ApiFixture;
  let ids: readonly string[];
  let parentId: string;
  const sessionId = nextId();

  beforeAll(async () => {
    const { store, advanceClock } = await fresh();
    api = createFixture({}, { store });
    await store.insertSession({
      id: sessionId,
      tenantId: TENANT,
      sessionKey: 'k',
      data: {},
      expiresAt: null,
    });
    const started: string[] = [];
    for (let at = 0; at < RUNS; at += 10) {
      const instances = Array.from({ length: 10 }, () => newInstance({ data: LARGE, sessionId }));
      await store.start({ instances, onKnownKey: 'first' });
      await advanceClock(1);
      started.push(...instances.map(({ id }) => id));
    }
    ids = started;
    parentId = ids[0] ?? '';
    for (let at = 0; at < CHECKPOINTS; at += 1) {
      await store.addCheckpoint({ tenantId: TENANT, instanceId: parentId, id: nextId(), data: LARGE });
      await store.acceptEvent({
        ...{ tenantId: TENANT, id: nextId(), eventName: 'e', producerEventId: `${at}`, correlationKey: 'k' },
        payload: LARGE,
      });
    }
    const rows = Array.from({ length: 100 }, (_, n) => row({ blockId: `b${n}`, output: LARGE }));
    await store.commit([turnOf(await claimed(parentId), { rows, frames: [write(frame())] })]);
  }, 120_000);

  async function claimed(instanceId: string): Promise<Claim> {
    const lease = { leaseToken: nextId(), leaseOwner: 'a', leaseMs: 60_000 };
    const claim = await api.store.claimOne({ tenantId: TENANT, instanceId, ...lease, mode: 'hint' });
    if (claim.status !== 'claimed') throw new Error(claim.status);
    return claim.claim;
  }

  async function fail(instanceId: string): Promise<void> {
    const failure = { blockId: 'a', error: { message: 'no' } };
    const settle = settleAs('failed', { failure });
    await api.store.commit([turnOf(await claimed(instanceId), { settle })]);
  }

  afterAll(() => api.store.close());

  describe('a list of large runs', () => {
    it.each(['updated', 'created'])(
      'leads through all of them by its cursor, each once, ordered by %s',
      { timeout: 60_000 },
      async (order) => {
        const seen: string[] = [];
        let pages = 0;
        for (let query = ''; ; pages += 1) {
          const page = await api.call('GET', `/instances?limit=1000&order=${order}${query}`);
          expect([page.status, page.text.length < PAGE_BYTES]).toEqual([200, true]);
          seen.push(...page.body.items.map(({ id }: { readonly id: string }) => id));
          expect(page.body.has_more).toBe(page.body.next_cursor !== undefined);
          if (!page.body.has_more) break;
          query = `&cursor=${page.body.next_cursor}`;
        }
        expect(seen).toHaveLength(RUNS);
        expect(new Set(seen)).toEqual(new Set(ids));
        expect(pages).toBeGreaterThan(10);
      },
    );

    it('brings one page from the database, however many are asked for', async () => {
      const before = broughtBytes();
      await api.call('GET', '/instances?limit=1000');
      const brought = before === null ? 4 * MIB : (broughtBytes() ?? 0) - before;
      expect(brought).toBeGreaterThan(3 * MIB);
      expect(brought).toBeLessThan(6 * MIB);
    });
  });

  it.each([
    ['/sessions/ID/instances', '`limit`', '?limit=20'],
    ['/events?limit=1000', '`limit`', '?limit=20'],
    ['/instances/ID/checkpoints', '`limit`', '?limit=20'],
    ['/instances/ID/outputs?inline=true', '`limit`', '?inline=true&limit=20'],
    ['/instances/ID/timeline?limit=1000', '`limit`', '?limit=20'],
  ])('%s is refused before anything is sent, and its parts are not', async (path, advice, part) => {
    const named = path.replaceAll('ID', path.startsWith('/sessions') ? sessionId : parentId);
    const before = broughtBytes() ?? 0;
    const refused = await api.call('GET', named);
    expect([refused.status, refused.body.code]).toEqual([413, 'answer_too_large']);
    expect(refused.body.error).toContain(advice);
    expect((broughtBytes() ?? 0) - before).toBeLessThan(0.5 * MIB);
    expect((await api.call('GET', named.replace(/\?.*$/, '') + part)).status).toBe(200);
  });

  it('runs are compared, and the failed ones grouped, without holding all of them', async () => {
    const store = api.store.withinBytes(6 * MIB);
    const caller = { tenantId: TENANT, isAdmin: false };
    const same = await compareInstances({ ...api.deps, store }, caller, parentId, parentId);
    expect(same).toMatchObject({ ok: true, value: { matchingCount: 100, differing: [] } });
    for (const instanceId of ids.slice(1, 41)) await fail(instanceId);
    const [group, ...others] = await listDeadLetterGroups(
      { ...api.deps, store },
      { tenantId: TENANT, sequenceId: null },
    );
    expect([group?.count, others]).toEqual([40, []]);
  });

  it('a stream tells all outputs, and holds few of them at once', async () => {
    const store = api.store.withinBytes(2 * MIB);
    const follower = { next: () => Promise.resolve(false), close: () => undefined };
    const options = { tenantId: TENANT, instanceId: parentId, pollMs: 500, withNodes: false, after: null };
    const told: string[] = [];
    for await (const event of followInstance(
      { store, definitions: api.deps.definitions },
      follower,
      options,
    )) {
      if (event.kind === 'output') told.push(event.row.blockId);
    }
    expect(told).toEqual(Array.from({ length: 100 }, (_, n) => `b${n}`));
  });
}
