import type { OutboundResult } from '../../../src/ports/effects.ts';
import type { Body, CallOptions, Reply } from '../../api/support/api-fixture.ts';
import type { Backend } from '../../api/support/backends.ts';
import { createLiveApi, type LiveApi } from '../../api/support/live-api.ts';
import { WRITE_REQUESTS, type WriteWorld } from '../../api/support/write-requests.ts';

const HOOK = 'https://hooks.example.com/';
const DAY_MS = 86_400_000;
/** Streams end soon, so that they can be read like other answers. */
const STREAM_MAX_MS = 2000;

/** One server that all requests of a file are made on. */
export interface ContractWorld extends WriteWorld {
  readonly api: LiveApi;
  /** What several requests read but none changes: made when it is first asked for. */
  readonly once: <T>(name: string, make: () => Promise<T>) => Promise<T>;
  /** Makes a request of the table of writes and answers its body. */
  readonly write: (route: string) => Promise<Body>;
  /** As the client sends it, whatever comes back. */
  readonly send: (method: string, path: string, options?: CallOptions) => Promise<Reply>;
}

/** An API in front of an engine on virtual time whose webhooks come to nothing when a test wants that. */
export async function createContractWorld(backend: Backend): Promise<ContractWorld> {
  let hookStatus = 200;
  let count = 0;
  const kept = new Map<string, Promise<unknown>>();
  const api = createLiveApi(
    await backend.fresh(),
    { streamMaxMs: STREAM_MAX_MS },
    {
      webhookClient: { send: () => Promise.resolve(answerOf(hookStatus)) },
      engine: {
        webhooks: {
          urls: [HOOK],
          secret: 'whsec_c2VjcmV0',
          timeoutMs: 10_000,
          maxRetries: 0,
          cancelled: false,
        },
        silentTaskMs: 10 * DAY_MS,
        node: { name: 'walk', beatMs: DAY_MS, silentMs: 10 * DAY_MS, reapEveryMs: DAY_MS },
        breakers: { threshold: 2, cooldownMs: 10 * DAY_MS },
      },
      parts: { swaggerFile: (name) => new TextEncoder().encode(`/* ${name} */`) },
    },
  );
  const call = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const reply = await api.call(method, path, body === undefined ? {} : { body });
    if (reply.status >= 300) throw new Error(`${method} ${path} answered ${reply.status} ${reply.text}`);
    return reply.body;
  };
  const write = async (route: string): Promise<Body> => {
    const { path, body } = (await WRITE_REQUESTS[route]?.(world)) ?? { path: 'no request of this name' };
    return call(route.split(' ')[0] ?? '', path, body);
  };
  const world: ContractWorld = {
    api,
    call,
    write,
    send: api.send,
    until: (id, state) => api.until(id, state),
    unique: () => String((count += 1)),
    once: <T>(name: string, make: () => Promise<T>) => {
      const known = kept.get(name) ?? make();
      kept.set(name, known);
      return known as Promise<T>;
    },
    parkedWebhook: async () => {
      hookStatus = 400;
      const { id } = await write('POST /instances');
      await api.until(id, 'completed');
      await api.time.pass(1000);
      hookStatus = 200;
      return (await call('GET', '/webhooks/outbox'))[0].id;
    },
  };
  return world;
}

function answerOf(status: number): OutboundResult {
  return { ok: true, status, headers: [], body: new TextEncoder().encode('no') };
}
