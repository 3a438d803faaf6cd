import { type Client, type ClientOptions, createClient } from '../../../src/sdk/client.ts';
import type { FetchLike } from '../../../src/sdk/client/exchange.ts';
import type { DefinedHandler } from '../../../src/sdk/handler.ts';
import type { SequenceDraft } from '../../../src/sdk/sequence-draft.ts';
import { composeWorld, type TestWorld } from '../../../src/sdk/testing/compose.ts';
import { createDriver, type Driver } from '../../../src/sdk/testing/drive.ts';
import { type TestRun, testRun } from '../../../src/sdk/testing/test-run.ts';

export const START_AT = Date.parse('2027-02-11T08:00:00.000Z');

/**
 * What happens to a call: its request never arrives, it arrives and the answer is lost, or somebody in between answers
 * with a status (and a body) of their own.
 */
export type Fault =
  | 'request lost'
  | 'answer lost'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export interface SdkWorld extends TestWorld {
  readonly driver: Driver;
  /** Every request as `POST /instances`, in order, lost ones included. */
  readonly requests: string[];
  /** When they left, by the world's clock. */
  readonly requestTimes: number[];
  /** What was sent, beside them. */
  readonly sent: RequestInit[];
  /** The next requests that match meet these faults, one each. */
  readonly plan: (pattern: RegExp, ...faults: readonly Fault[]) => void;
  /** A client whose requests meet the planned faults; it has the world's clock. */
  readonly clientOf: (options?: Partial<ClientOptions>) => Client;
  readonly run: (draft: SequenceDraft, data?: object) => Promise<TestRun>;
  /** Lets time pass until the work has ended. */
  readonly awaitOn: <T>(work: Promise<T>) => Promise<T>;
}

/** The engine and API of the test kit, with a network in between that can fail. */
export function createWorld(handlers: readonly DefinedHandler[] = []): SdkWorld {
  const world = composeWorld({
    handlers,
    http: undefined,
    startAtMs: START_AT,
    tenant: 'default',
    seed: 1,
    log: undefined,
  });
  const driver = createDriver(world);
  const requests: string[] = [];
  const requestTimes: number[] = [];
  const sent: RequestInit[] = [];
  const faults: { readonly pattern: RegExp; readonly fault: Fault }[] = [];
  const fetch: FetchLike = async (url, init) => {
    const { pathname } = new URL(url);
    const shown = `${init.method} ${pathname.replace('/api/v1', '')}`;
    requests.push(shown);
    requestTimes.push(world.time.nowMs());
    sent.push(init);
    const index = faults.findIndex(({ pattern }) => pattern.test(shown));
    const fault = faults.splice(index, index < 0 ? 0 : 1)[0]?.fault;
    if (fault === 'request lost')
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    if (typeof fault === 'object') return new Response(fault.body ?? null, fault);
    const response = await world.app.request(url, init);
    if (fault === 'answer lost') throw new TypeError('fetch failed', { cause: new Error('socket hang up') });
    return response;
  };
  return {
    ...world,
    driver,
    requests,
    requestTimes,
    sent,
    plan: (pattern, ...planned) => faults.push(...planned.map((fault) => ({ pattern, fault }))),
    clientOf: (options = {}) =>
      createClient({ url: 'http://127.0.0.1:8080', clock: world.time.clock, fetch, ...options }),
    run: async (draft, data = {}) => {
      await world.client.sequences.publish(draft);
      const context = { data: JSON.parse(JSON.stringify(data)) };
      const { id } = await world.client.instances.start({ sequence_name: draft.name, context });
      await driver.settle();
      return testRun(world, driver, id);
    },
    awaitOn: async (work) => {
      let isDone = false;
      const ended = work.finally(() => {
        isDone = true;
      });
      ended.catch(() => undefined);
      await driver.moveUntil(() => Promise.resolve(isDone), world.time.nowMs() + 3_600_000);
      return ended;
    },
  };
}
