import { withinTime } from '../../core/within-time.ts';
import { HOST_CALL_MS } from '../../ports/host-call.ts';
import type { Clock } from '../../ports/system.ts';
import type { Waker } from '../../ports/waker.ts';
import type { ObjectNamespace, ObjectStub } from './bindings.ts';

/** One object wakes a whole deployment. */
const NAME = 'waker';

/** A waker that also remembers what was published, so that a new process need not ask the database. */
export interface ObjectWaker extends Waker {
  /** Whether the deployment of this instant has published its sequences, or a later one has. */
  isPublished(deployedAt: number): Promise<boolean>;
  published(deployedAt: number): Promise<void>;
}

/** The Durable Object that wakes this deployment, as the other invocations see it. Rejects when it does not answer within 4 s. */
export function createObjectWaker(namespace: ObjectNamespace, clock: Pick<Clock, 'after'>): ObjectWaker {
  const ask = async (path: string, query: Readonly<Record<string, string>>): Promise<string> => {
    const stub = namespace.get(namespace.idFromName(NAME));
    const url = `https://waker/${path}?${new URLSearchParams(query).toString()}`;
    return withinTime(clock.after, HOST_CALL_MS, answerOf(stub, url));
  };
  const inMs = (delayMs: number): Readonly<Record<string, string>> => ({ ms: String(Math.ceil(delayMs)) });
  return {
    async guard(delayMs) {
      await ask('guard', inMs(delayMs));
    },
    async wakeWithin(delayMs) {
      await ask('wake', inMs(delayMs));
    },
    isPublished: async (deployedAt) => (await ask('is-published', { at: String(deployedAt) })) === 'yes',
    async published(deployedAt) {
      await ask('published', { at: String(deployedAt) });
    },
  };
}

async function answerOf(stub: ObjectStub, url: string): Promise<string> {
  const response = await stub.fetch(url, { method: 'POST' });
  const text = await response.text();
  if (!response.ok) throw new Error(`the waker answered ${response.status}`);
  return text;
}
