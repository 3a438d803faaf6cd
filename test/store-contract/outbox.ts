import { expect, it } from 'vitest';
import type { OutboxEntry, WebhookAttemptResult } from '../../src/ports/store/outbox.ts';
import { nextId, turnOf } from '../support/turn-builder.ts';
import { removeExpired } from './remove-expired.ts';
import type { MakeStore } from './store-under-test.ts';

import { useWorld, type World } from './world.ts';

const URL_A = 'https://a.example.com/hooks';
const URL_B = 'https://b.example.com/hooks';
const LEASE_MS = 40_000;

/** Commits a turn that queues so many webhooks for a target; answers their ids, oldest first. */
export async function queue(world: World, count = 1, url = URL_A): Promise<readonly string[]> {
  const claim = await world.claim(await world.start());
  const ids = Array.from({ length: count }, nextId);
  const webhooks = ids.map((id, n) => ({
    ...{ id, url, eventType: 'instance.completed' as const },
    payload: { event_type: 'instance.completed', n },
  }));
  await world.apply(turnOf(claim, { webhooks }));
  return ids;
}

const claimRequest = (overrides: object = {}) => ({
  claimToken: nextId(),
  leaseMs: LEASE_MS,
  perUrl: 8,
  underWay: {},
  ...overrides,
});

const resultOf = (
  id: string,
  claimToken: string,
  overrides: Partial<WebhookAttemptResult> = {},
): WebhookAttemptResult => ({
  id,
  claimToken,
  durationMs: 12,
  signed: true,
  statusCode: 500,
  errorClass: 'http_status',
  errorExcerpt: 'status 500',
  ...overrides,
});

const success = { statusCode: 200, errorClass: null, errorExcerpt: null };
const idsOf = (entries: readonly OutboxEntry[]): readonly string[] => entries.map(({ id }) => id);
const everything = { tenantId: null, url: null, eventType: null, delivered: null, errorClass: null };

/** Registers what every store must do with outgoing webhooks (http-api.md 21). */
export function describeOutbox(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('a webhook of a commit can be sent at once, by one sender only', async () => {
    const [id = ''] = await queue(world);
    const now = await world.now();
    const entries = await world.store.claimWebhooks(claimRequest());
    expect(entries).toMatchObject([
      {
        ...{
          id,
          url: URL_A,
          eventType: 'instance.completed',
          status: 'in_flight',
          attempts: 0,
          lastError: null,
        },
        ...{ claimedAt: now, nextAttemptAt: now + LEASE_MS, payload: { n: 0 } },
      },
    ]);
    expect(await world.store.claimWebhooks(claimRequest())).toEqual([]);
    expect(await world.store.claimWebhook({ ...claimRequest(), tenantId: null, id })).toEqual({
      status: 'busy',
    });
  });

  it('a webhook that was delivered is gone from the outbox and stays in the history', async () => {
    const [id = ''] = await queue(world);
    const request = claimRequest();
    await world.store.claimWebhooks(request);
    expect(await world.store.finishWebhook(resultOf(id, request.claimToken, success))).toBe(true);
    expect(await world.store.getWebhook(null, id)).toBeNull();
    const [delivery] = await world.store.listWebhookDeliveries({ ...everything, limit: 10 });
    expect(delivery).toMatchObject({ deliveryId: id, attempts: 1, delivered: true, lastErrorClass: null });
    expect(await world.store.listWebhookAttempts(null, id)).toMatchObject([
      { attemptNumber: 1, success: true, statusCode: 200, errorClass: null, signed: true, durationMs: 12 },
    ]);
  });

  it('a failed webhook waits for its next attempt, then is parked, and can be taken by hand', async () => {
    const [id = ''] = await queue(world);
    const first = claimRequest();
    await world.store.claimWebhooks(first);
    const now = await world.now();
    await world.store.finishWebhook(resultOf(id, first.claimToken, { retryAfterMs: 500 }));
    expect(await world.store.getWebhook(null, id)).toMatchObject({
      ...{
        status: 'pending',
        attempts: 1,
        nextAttemptAt: now + 500,
        claimedAt: null,
        lastError: 'status 500',
      },
    });
    expect(await world.store.claimWebhooks(claimRequest())).toEqual([]);
    await world.advance(500);
    const second = claimRequest();
    expect(idsOf(await world.store.claimWebhooks(second))).toEqual([id]);
    await world.store.finishWebhook(resultOf(id, second.claimToken));
    expect(await world.store.listWebhookOutbox(null, 'parked', 10)).toMatchObject([
      { id, status: 'parked', attempts: 2, nextAttemptAt: null },
    ]);
    await world.advance(86_400_000);
    expect(await world.store.claimWebhooks(claimRequest())).toEqual([]);
    const byHand = claimRequest();
    const claimed = await world.store.claimWebhook({ ...byHand, tenantId: null, id });
    expect(claimed).toMatchObject({ status: 'claimed', entry: { id, attempts: 2, status: 'in_flight' } });
    await world.store.finishWebhook(resultOf(id, byHand.claimToken, success));
    expect(await world.store.listWebhookDeliveries({ ...everything, limit: 10 })).toMatchObject([
      { deliveryId: id, attempts: 3, delivered: true, lastErrorClass: 'http_status' },
    ]);
    const attempts = await world.store.listWebhookAttempts(null, id);
    expect(attempts?.map(({ attemptNumber, success: ok }) => [attemptNumber, ok])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
  });

  it('a webhook whose sender died goes to another one, and the word of the first counts no more', async () => {
    const [id = ''] = await queue(world);
    const dead = claimRequest();
    await world.store.claimWebhooks(dead);
    await world.advance(LEASE_MS - 1);
    expect(await world.store.claimWebhooks(claimRequest())).toEqual([]);
    await world.advance(1);
    const next = claimRequest();
    expect(idsOf(await world.store.claimWebhooks(next))).toEqual([id]);
    expect(await world.store.finishWebhook(resultOf(id, dead.claimToken, success))).toBe(false);
    expect(await world.store.listWebhookAttempts(null, id)).toBeNull();
    expect(await world.store.finishWebhook(resultOf(id, next.claimToken, success))).toBe(true);
    expect(await world.store.finishWebhook(resultOf(id, next.claimToken, success))).toBe(false);
  });

  it('each target has room of its own: one that is slow holds up none but itself', async () => {
    const slow = await queue(world, 5);
    const [other = ''] = await queue(world, 1, URL_B);
    const request = claimRequest({ perUrl: 3 });
    expect(new Set(idsOf(await world.store.claimWebhooks(request)))).toEqual(
      new Set([...slow.slice(0, 3), other]),
    );
    const full = claimRequest({ perUrl: 3, underWay: { [URL_A]: 3 } });
    expect(await world.store.claimWebhooks(full)).toEqual([]);
    const room = claimRequest({ perUrl: 3, underWay: { [URL_A]: 2 } });
    expect(idsOf(await world.store.claimWebhooks(room))).toEqual([slow[3]]);
  });

  it('webhooks of other tenants are not there', async () => {
    const [id = ''] = await queue(world);
    const request = claimRequest();
    expect(await world.store.getWebhook('dunes', id)).toBeNull();
    expect(await world.store.deleteWebhook('dunes', id)).toBe(false);
    expect(await world.store.claimWebhook({ ...request, tenantId: 'dunes', id })).toEqual({
      status: 'not_found',
    });
    await world.store.claimWebhooks(request);
    await world.store.finishWebhook(resultOf(id, request.claimToken));
    expect(await world.store.listWebhookOutbox('dunes', 'parked', 10)).toEqual([]);
    expect(await world.store.listWebhookOutbox('saltmarsh', 'parked', 10)).toHaveLength(1);
    expect(await world.store.listWebhookAttempts('dunes', id)).toBeNull();
    const query = { ...everything, limit: 10 };
    expect(await world.store.listWebhookDeliveries({ ...query, tenantId: 'dunes' })).toEqual([]);
  });

  it('deliveries are listed newest first, by what is asked for', async () => {
    const [first = ''] = await queue(world);
    await world.advance(10);
    const [second = ''] = await queue(world, 1, URL_B);
    const request = claimRequest();
    await world.store.claimWebhooks({ ...request, underWay: { [URL_B]: 8 } });
    await world.store.finishWebhook(resultOf(first, request.claimToken));
    await world.advance(10);
    await world.store.claimWebhooks(request);
    await world.store.finishWebhook(resultOf(second, request.claimToken, success));
    const list = async (query: object) =>
      (await world.store.listWebhookDeliveries({ ...everything, limit: 10, ...query })).map(
        ({ deliveryId }) => deliveryId,
      );
    expect(await list({})).toEqual([second, first]);
    expect(await list({ limit: 1 })).toEqual([second]);
    expect(await list({ url: URL_A })).toEqual([first]);
    expect(await list({ delivered: true })).toEqual([second]);
    expect(await list({ delivered: false, errorClass: 'http_status' })).toEqual([first]);
    expect(await list({ errorClass: 'dns' })).toEqual([]);
    expect(await list({ eventType: 'instance.failed' })).toEqual([]);
  });

  it('history is removed 30 days after the last attempt; what is parked stays', async () => {
    const [id = ''] = await queue(world);
    const request = claimRequest();
    await world.store.claimWebhooks(request);
    await world.store.finishWebhook(resultOf(id, request.claimToken));
    await world.advance(30 * 86_400_000 - 1);
    await removeExpired(world, 10);
    expect(await world.store.listWebhookAttempts(null, id)).toHaveLength(1);
    await world.advance(1);
    await removeExpired(world, 10);
    expect(await world.store.listWebhookAttempts(null, id)).toBeNull();
    expect(await world.store.listWebhookOutbox(null, 'parked', 10)).toHaveLength(1);
    expect(await world.store.deleteWebhook(null, id)).toBe(true);
    expect(await world.store.deleteWebhook(null, id)).toBe(false);
  });
}
