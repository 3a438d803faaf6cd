/*
 * What the adapters use of the bindings of a Worker, in the shape of the platform's own types: whoever has those installed
 * can hand theirs in, and nobody needs them.
 */

/** A producer of a queue. At most 100 messages and 256 KB at once. */
export interface QueueBinding {
  sendBatch(messages: Iterable<QueueSend>): Promise<unknown>;
}

export interface QueueSend {
  readonly body: string;
  readonly contentType: 'text';
  readonly delaySeconds: number;
}

/** A namespace of Durable Objects. */
export interface ObjectNamespace {
  idFromName(name: string): object;
  get(id: object): ObjectStub;
}

export interface ObjectStub {
  fetch(url: string, init: { readonly method: 'POST' }): Promise<Pick<Response, 'ok' | 'status' | 'text'>>;
}
