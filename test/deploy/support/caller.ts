import { nextId } from '../../support/turn-builder.ts';

export const OWNER = { tenant_id: 'default', namespace: 'default' } as const;

/** Calls of the API of an installation. */
export function callerOf(url: () => string) {
  async function call(method: string, path: string, body?: object) {
    const init =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(`${url()}/api/v1${path}`, { method, ...init });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  /** Publishes these blocks; answers the id of the sequence. */
  async function publish(...blocks: readonly object[]): Promise<string> {
    const id = nextId();
    const head = { id, ...OWNER, name: `s-${id}`, version: 1, created_at: '2027-02-11T07:45:00Z' };
    await call('POST', '/sequences', { ...head, blocks });
    return id;
  }

  return {
    call,
    publish,
    /** Publishes these blocks and starts them; answers the id of the instance. */
    start: async (...blocks: readonly object[]): Promise<string> =>
      (await call('POST', '/instances', { ...OWNER, sequence_id: await publish(...blocks) })).body.id,
    state: async (id: string): Promise<string> => (await call('GET', `/instances/${id}`)).body.state,
  };
}
