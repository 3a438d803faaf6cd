import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerEntry } from './ledger.ts';
import { seededRandom } from './random.ts';

/**
 * The desk: a service that does things in the world and sometimes fails. It keeps a ledger of what it was asked for and
 * under which idempotency keys, and does the work of one key only once, as payment services and the like do.
 *
 * Whether and how often it fails depends on the seed alone: per path and in the order in which new work comes in. Half of
 * the failures come after the work was done, so that the answer is lost but the effect is not.
 */
export interface Call {
  readonly path: string;
  readonly effect: string;
  /** 1 for the first call for this effect. */
  readonly callNo: number;
  readonly status: number;
  /** True when the work had been done before under this key. */
  readonly repeated: boolean;
}

interface Entry {
  readonly path: string;
  readonly keys: Map<string, boolean>;
  readonly failureCount: number;
  readonly failsAfterWork: boolean;
  callCount: number;
  doneCount: number;
}

/** More than any retry policy of the example. */
const HOPELESS = 1000;

export function createDesk(seed: number, onArrival: () => void, onCall: (call: Call) => void): Server {
  const entries = new Map<string, Entry>();
  const newCountOf = new Map<string, number>();

  const entryFor = (path: string, effect: string): Entry => {
    const known = entries.get(effect);
    if (known !== undefined) return known;
    const index = newCountOf.get(path) ?? 0;
    newCountOf.set(path, index + 1);
    const random = seededRandom(seed, `desk:${path}:${index}`);
    const hopeless = path === 'labels' && random.chance(40);
    const failureCount = random.chance(50) ? 0 : random.between(1, 2);
    const entry: Entry = {
      path,
      keys: new Map(),
      failureCount: hopeless ? HOPELESS : failureCount,
      failsAfterWork: !hopeless && random.chance(50),
      callCount: 0,
      doneCount: 0,
    };
    entries.set(effect, entry);
    return entry;
  };

  const work = (entry: Entry, key: string): void => {
    if (entry.keys.get(key) === true) return;
    entry.keys.set(key, true);
    entry.doneCount += 1;
  };

  const take = async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    const effect = headerOf(request, 'x-effect');
    const key = headerOf(request, 'idempotency-key');
    if (effect === '' || key === '')
      return answer(response, 400, { error: 'x-effect and idempotency-key, please' });
    onArrival();
    const entry = entryFor(path, effect);
    entry.callCount += 1;
    const callNo = entry.callCount;
    const repeated = entry.keys.get(key) === true;
    entry.keys.set(key, repeated);
    await delay(seededRandom(seed, `pace:${path}:${callNo}`).between(10, 60));
    const fails = callNo <= entry.failureCount;
    if (!fails || entry.failsAfterWork) work(entry, key);
    const status = fails ? 503 : 200;
    onCall({ path, effect, callNo, status, repeated });
    answer(response, status, fails ? { error: 'the desk is busy' } : { done: effect });
  };

  return createServer((request, response) => {
    const path = (request.url ?? '/').slice(1);
    request.resume();
    if (request.method === 'GET') answer(response, 200, ledgerOf(entries));
    else
      take(request, response, path).catch((error: unknown) =>
        answer(response, 500, { error: String(error) }),
      );
  });
}

function ledgerOf(entries: ReadonlyMap<string, Entry>): readonly LedgerEntry[] {
  return [...entries].map(([effect, entry]) => ({
    effect,
    path: entry.path,
    keys: [...entry.keys.keys()],
    callCount: entry.callCount,
    doneCount: entry.doneCount,
    hopeless: entry.failureCount === HOPELESS,
  }));
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
