import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takesIdempotencyKey } from '../../src/api/idempotent-call.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import type { OutboundResult } from '../../src/ports/effects.ts';
import type { KeptAnswer } from '../../src/ports/store/idempotency.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { type Reply, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { breaking } from './support/breaking-store.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';
import { WRITE_REQUESTS, type WriteWorld } from './support/write-requests.ts';

const KEYED = ROUTES.filter(takesIdempotencyKey).map(({ method, path }) => `${method} ${path}`);
const HOOK = 'https://hooks.example.com/';
/** Longer than a request may be under way. */
const LATER_MS = 25_000;
const DAY_MS = 86_400_000;

/**
 * Every route that changes something is called with a key, and the process is lost between what it did and the answer it
 * was about to keep. The same request again must answer what the first one would have, and change nothing more.
 */
export function describeCrashedRequests(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let api: LiveApi;
  let world: WriteWorld;
  let crashed = false;
  let unkept: KeptAnswer[] = [];
  let hookStatus = 200;

  beforeEach(async () => {
    const underTest = await backend.fresh();
    const lost = (name: string) => crashed && (name === 'finishAttempt' || name === 'releaseAttempt');
    const store = noting(breaking(underTest.store, lost), (answer) => unkept.push(answer));
    const webhookClient = { send: () => Promise.resolve(answerOf(hookStatus)) };
    const webhooks = { urls: [HOOK], secret: null, timeoutMs: 10_000, maxRetries: 0, cancelled: false };
    api = createLiveApi(
      { ...underTest, store },
      {},
      { webhookClient, engine: { webhooks, silentTaskMs: 10 * DAY_MS } },
    );
    let count = 0;
    const call = async (method: string, path: string, body?: unknown) => {
      const reply = await api.call(method, path, body === undefined ? {} : { body });
      if (reply.status >= 300) throw new Error(`${method} ${path} answered ${reply.status} ${reply.text}`);
      return reply.body;
    };
    world = {
      call,
      until: (id, state) => api.until(id, state),
      unique: () => String((count += 1)),
      parkedWebhook: async () => {
        hookStatus = 400;
        const { body } = (await WRITE_REQUESTS['POST /instances']?.(world)) ?? {};
        await api.until((await call('POST', '/instances', body)).id, 'completed');
        await api.time.pass(1000);
        hookStatus = 200;
        return (await call('GET', '/webhooks/outbox'))[0].id;
      },
    };
  });
  afterEach(async () => {
    await api.stop();
  });

  /** All that is there once nothing moves any more, but for the time at which it was read. */
  async function settled(): Promise<unknown> {
    await api.time.pass(LATER_MS);
    const parts = [
      await api.footprint(),
      await api.store.listApiKeys(TENANT),
      await api.store.listVersionPins(null, 1000),
      await api.store.listWebhookOutbox(null, 'parked', 1000),
    ];
    return JSON.parse(JSON.stringify(parts, (key, value) => (key === 'now' ? undefined : value)));
  }

  describe('a request whose process is lost before its answer is kept', () => {
    it.each(KEYED)('%s is told what the first attempt was told and does nothing twice', async (route) => {
      const make = WRITE_REQUESTS[route];
      if (make === undefined)
        throw new Error(`test/api/support/write-requests.ts has no request for ${route}`);
      const { path, body } = await make(world);
      const method = route.split(' ')[0] ?? '';
      const send = (): Promise<Reply> =>
        api.call(method, path, {
          ...(body === undefined ? {} : { body }),
          headers: { 'idempotency-key': route },
        });
      unkept = [];
      crashed = true;
      expect((await send()).status).toBe(503);
      crashed = false;
      const [first] = unkept;
      expect(first?.status).toBeLessThan(300);
      const before = await settled();
      const again = await send();
      expect([again.status, timeless(again.text)]).toEqual([
        first?.status,
        timeless(plain(first?.body ?? '')),
      ]);
      expect(await settled()).toEqual(before);
      expect((await send()).text).toBe(again.text);
    });
  });
}

/** What an attempt is about to keep. */
function noting(store: Store, note: (answer: KeptAnswer) => void): Store {
  return new Proxy(store, {
    get: (target, name) =>
      name === 'finishAttempt'
        ? (...args: Parameters<Store['finishAttempt']>) => {
            note(args[1]);
            return target.finishAttempt(...args);
          }
        : Reflect.get(target, name),
  });
}

function answerOf(status: number): OutboundResult {
  return { ok: true, status, headers: [], body: new Uint8Array() };
}

/** The seal of the fixture adds a word only. */
function plain(body: string): string {
  return body.replace(/^plain\./, '');
}

/** Without what the clock says while an answer is composed. */
function timeless(text: string): string {
  return text.replace(/"(?:applied|generated)_at":"[^"]*"/, '');
}
