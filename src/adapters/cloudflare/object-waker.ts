import type { Waker } from '../../ports/waker.ts';
import type { ObjectNamespace } from './bindings.ts';

/** One object wakes a whole deployment. */
const NAME = 'waker';

/** A waker that also remembers what was published, so that a new process need not ask the database. */
export interface ObjectWaker extends Waker {
  /** Whether the sequences with this digest have been published. */
  isPublished(digest: string): Promise<boolean>;
  published(digest: string): Promise<void>;
}

/** The Durable Object that wakes this deployment, as the other invocations see it. Rejects when it does not answer. */
export function createObjectWaker(namespace: ObjectNamespace): ObjectWaker {
  const ask = async (path: string, query: Readonly<Record<string, string>>): Promise<string> => {
    const stub = namespace.get(namespace.idFromName(NAME));
    const url = `https://waker/${path}?${new URLSearchParams(query).toString()}`;
    const response = await stub.fetch(url, { method: 'POST' });
    const text = await response.text();
    if (!response.ok) throw new Error(`the waker answered ${response.status}`);
    return text;
  };
  const inMs = (delayMs: number): Readonly<Record<string, string>> => ({ ms: String(Math.ceil(delayMs)) });
  return {
    async guard(delayMs) {
      await ask('guard', inMs(delayMs));
    },
    async wakeWithin(delayMs) {
      await ask('wake', inMs(delayMs));
    },
    isPublished: async (digest) => (await ask('is-published', { digest })) === 'yes',
    async published(digest) {
      await ask('published', { digest });
    },
  };
}
