import { describe, expect, it } from 'vitest';
import { newInstance, nextId, turnOf } from '../support/turn-builder.ts';
import { commitOk, startClaimed } from './acts.ts';
import { type Session, useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

const LEASE_MS = 40_000;

describe('senders of two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  async function queue(session: Session, count: number, url: string): Promise<readonly string[]> {
    const claim = await startClaimed(session.store);
    const ids = Array.from({ length: count }, nextId);
    const webhooks = ids.map((id) => ({
      ...{ id, url, eventType: 'instance.completed' as const, payload: {} },
    }));
    await commitOk(session.store, turnOf(claim, { webhooks }));
    return ids;
  }
  const claimAll = async (session: Session, claimToken = nextId()) => {
    const request = { claimToken, leaseMs: LEASE_MS, perUrl: 100, underWay: {} };
    const entries = await session.store.claimWebhooks(request);
    return entries.map(({ id }) => id);
  };
  const result = (id: string, claimToken: string) => ({
    ...{ id, claimToken, durationMs: 1, signed: false },
    ...{ statusCode: 500, errorClass: 'http_status' as const, errorExcerpt: 'no', retryAfterMs: 500 },
  });

  it('a webhook that one is taking is left alone by the other, who does not wait', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const ids = await queue(first, 3, `https://${nextId()}.example.com/`);
    await first.begin();
    expect(await claimAll(first)).toEqual(ids);
    expect(await claimAll(second)).toEqual([]);
    await first.commit();
    expect(await claimAll(second)).toEqual([]);
  });

  it('a taker that dies before its commit has taken nothing', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const ids = await queue(first, 2, `https://${nextId()}.example.com/`);
    await first.begin();
    expect(await claimAll(first)).toEqual(ids);
    await first.rollback();
    expect(await claimAll(second)).toEqual(ids);
  });

  it('a webhook is there for the senders when the commit that tells of it is, and not before', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    await first.begin();
    const ids = await queue(first, 1, `https://${nextId()}.example.com/`);
    expect(await claimAll(second)).toEqual([]);
    await first.commit();
    expect(await claimAll(second)).toEqual(ids);
  });

  it('a claim by hand waits for the look of a sender, and finds it busy', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const [id = ''] = await queue(first, 1, `https://${nextId()}.example.com/`);
    await first.begin();
    await claimAll(first);
    const byHand = { tenantId: null, id, claimToken: nextId(), leaseMs: LEASE_MS };
    const pending = second.store.claimWebhook(byHand);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toEqual({ status: 'busy' });
  });

  it('of a late word and a new claim only one counts', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const [id = ''] = await queue(first, 1, `https://${nextId()}.example.com/`);
    const late = nextId();
    expect(await claimAll(first, late)).toEqual([id]);
    // The sender was so slow that its claim ran out at this instant.
    await first.rows('UPDATE stepwell.webhook_outbox SET next_attempt_at = now() WHERE id = $1', [id]);
    await second.begin();
    expect(await claimAll(second)).toEqual([id]);
    const word = first.store.finishWebhook(result(id, late));
    await first.untilBlocked();
    await second.commit();
    expect(await word).toBe(false);
    expect(await first.store.getWebhook(null, id)).toMatchObject({ status: 'in_flight', attempts: 0 });
  });

  it('a deletion that comes while it is being sent leaves nothing of it', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const [id = ''] = await queue(first, 1, `https://${nextId()}.example.com/`);
    const token = nextId();
    await claimAll(first, token);
    await second.begin();
    expect(await second.store.deleteWebhook(null, id)).toBe(true);
    const word = first.store.finishWebhook(result(id, token));
    await first.untilBlocked();
    await second.commit();
    expect(await word).toBe(false);
    expect(await first.store.getWebhook(null, id)).toBeNull();
  });

  it('many senders at once take each webhook exactly once', async () => {
    const opened = await Promise.all([1, 2, 3, 4].map(() => sessions.open()));
    const [first] = opened;
    if (first === undefined) throw new Error('no session');
    const url = `https://${nextId()}.example.com/`;
    const ids = await queue(first, 60, url);
    const taken: string[] = [];
    await Promise.all(
      opened.map(async (session) => {
        for (let rounds = 0; rounds < 10; rounds += 1) {
          const request = { claimToken: nextId(), leaseMs: LEASE_MS, perUrl: 3, underWay: {} };
          taken.push(...(await session.store.claimWebhooks(request)).map(({ id }) => id));
        }
      }),
    );
    expect(taken.toSorted()).toEqual([...ids].toSorted());
  });
});

describe('starts of a tenant with a plan in two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);
  const startIn = (session: Session, tenantId: string, maxActive = 1) => {
    const activeLimits = [{ tenantId, maxActive }];
    return session.store.start({ instances: [newInstance({ tenantId })], onKnownKey: 'first', activeLimits });
  };

  it('the last place of a plan goes to one of two starts', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const tenantId = `tenant-${nextId()}`;
    await first.begin();
    expect(await startIn(first, tenantId)).toMatchObject({ status: 'ok' });
    const pending = startIn(second, tenantId);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toEqual({ status: 'plan_full', tenantId });
  });

  it('the last start of a second goes to one of two that come at once', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const tenantId = `tenant-${nextId()}`;
    const activeLimits = [{ tenantId, startsPerSec: 1 }];
    const startOne = (session: Session) =>
      session.store.start({ instances: [newInstance({ tenantId })], onKnownKey: 'first', activeLimits });
    await first.begin();
    expect(await startOne(first)).toMatchObject({ status: 'ok' });
    const pending = startOne(second);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toEqual({ status: 'plan_rate', tenantId });
  });

  it('a start that is undone gives its place to the one that waits', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const tenantId = `tenant-${nextId()}`;
    await first.begin();
    await startIn(first, tenantId);
    const pending = startIn(second, tenantId);
    await second.untilBlocked();
    await first.rollback();
    expect(await pending).toMatchObject({ status: 'ok' });
  });

  it('tenants do not wait for each other, and starts without a plan wait for nobody', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const tenantId = `tenant-${nextId()}`;
    await first.begin();
    await startIn(first, tenantId);
    expect(await startIn(second, `tenant-${nextId()}`)).toMatchObject({ status: 'ok' });
    const free = { instances: [newInstance({ tenantId })], onKnownKey: 'first' as const };
    expect(await second.store.start(free)).toMatchObject({ status: 'ok' });
    await first.commit();
  });

  it('batches of the same tenants in any order never deadlock and never exceed a plan', async () => {
    const before = await sessions.deadlockCount();
    const [first, second] = [await sessions.open(), await sessions.open()];
    const tenants = [`tenant-${nextId()}`, `tenant-${nextId()}`];
    const batch = (session: Session, order: readonly string[]) =>
      session.store.start({
        instances: order.map((tenantId) => newInstance({ tenantId })),
        onKnownKey: 'conflict',
        activeLimits: order.map((tenantId) => ({ tenantId, maxActive: 15 })),
      });
    let accepted = 0;
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all([batch(first, tenants), batch(second, tenants.toReversed())]);
      accepted += answers.filter(({ status }) => status === 'ok').length;
    }
    expect(accepted).toBe(15);
    expect(await sessions.deadlockCount()).toBe(before);
  });
});
