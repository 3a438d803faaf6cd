import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a function has answered, or what its process reported instead. */
export interface RuntimeApi {
  /** Host and port, as AWS_LAMBDA_RUNTIME_API has them. */
  readonly address: string;
  /** One event; rejects when the function fails or `fail` is called. */
  invoke(event: unknown): Promise<unknown>;
  /** Comes when the process has nothing under way and asks for an event that is not there yet. AWS freezes it then. */
  idle(): Promise<void>;
  /** Everything under way fails with this. */
  fail(error: Error): void;
  close(): void;
}

interface Job {
  readonly id: string;
  readonly event: unknown;
  readonly settle: (answer: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** The most that AWS takes of an event, and of an answer that is not streamed. */
const PAYLOAD_BYTES = 6_291_556;

const PATH = /^\/2018-06-01\/runtime\/(?:(init)\/error|invocation\/(?:(next)|([^/]+)\/(response|error)))$/;

/** The API that AWS gives the process of a function: it fetches events there and leaves its answers. */
export async function startRuntimeApi(arn: string, timeoutMs: number): Promise<RuntimeApi> {
  const waiting: Job[] = [];
  const given = new Map<string, Job>();
  let fetching: ((job: Job) => void) | null = null;
  const becameIdle: (() => void)[] = [];

  const fail = (error: Error): void => {
    for (const job of [...waiting, ...given.values()]) job.fail(error);
    waiting.length = 0;
    given.clear();
  };
  const give = (response: ServerResponse, job: Job): void => {
    given.set(job.id, job);
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': job.id,
        'lambda-runtime-deadline-ms': String(Date.now() + timeoutMs),
        'lambda-runtime-invoked-function-arn': arn,
        'lambda-runtime-trace-id': 'Root=1-0;Sampled=0',
      })
      .end(JSON.stringify(job.event));
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await readAll(request);
    const [, init, next, id = '', kind] = PATH.exec(request.url ?? '') ?? [];
    if (next !== undefined) {
      const job = waiting.shift();
      if (job !== undefined) return give(response, job);
      fetching = (later) => give(response, later);
      for (const tell of becameIdle.splice(0)) tell();
      return;
    }
    const isStream = request.headers['lambda-runtime-function-response-mode'] === 'streaming';
    const isTooLarge = kind === 'response' && !isStream && Buffer.byteLength(text) > PAYLOAD_BYTES;
    response.writeHead(isTooLarge ? 413 : 202).end();
    if (init !== undefined) return fail(new Error(`the function did not start: ${text}`));
    const job = given.get(id);
    given.delete(id);
    if (isTooLarge) job?.fail(new Error(`the answer has more than ${PAYLOAD_BYTES} bytes`));
    else if (kind === 'response')
      job?.settle(isStream ? streamed(text) : JSON.parse(text === '' ? 'null' : text));
    else job?.fail(new Error(`the function failed: ${text}`));
  };

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail,
    idle: () => (fetching === null ? new Promise((tell) => becameIdle.push(tell)) : Promise.resolve()),
    invoke: (event) =>
      new Promise((settle, reject) => {
        if (Buffer.byteLength(JSON.stringify(event)) > PAYLOAD_BYTES)
          throw new Error('the event is too large');
        const job: Job = { id: randomUUID(), event, settle, fail: reject };
        const taker = fetching;
        fetching = null;
        if (taker === null) waiting.push(job);
        else taker(job);
      }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What was streamed: the head as JSON, eight zero bytes, the body. */
export interface Streamed {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function streamed(text: string): Streamed {
  const [head = '', ...body] = text.split('\0'.repeat(8));
  return { ...JSON.parse(head), body: body.join('') };
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
