import type { Server, ServerResponse } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { err, ok, type Result } from '../../core/result.ts';
import type { Clock } from '../../ports/system.ts';

/** An app of the web platform: a request in, a response out. */
export interface FetchApp {
  readonly fetch: (request: Request, hostEnv: object) => Response | Promise<Response>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly clock: Pick<Clock, 'after'>;
  /** How long a request may take to arrive, its body included; default 60 s. */
  readonly requestTimeoutMs?: number;
  /** How long its headers may take; default 15 s. */
  readonly headersTimeoutMs?: number;
}

export interface ListeningServer {
  readonly host: string;
  readonly port: number;
  /** Takes no new requests and resolves when the running ones are answered; after `graceMs` they are cut off. */
  close(graceMs: number): Promise<void>;
}

export interface ListenProblem {
  /** `EADDRINUSE`, `EACCES`, ... */
  readonly code: string;
  readonly message: string;
}

const MAX_HEADER_BYTES = 64 * 1024;
/** Longer than the idle time of usual load balancers, so that they never write into a connection that is closing. */
const KEEP_ALIVE_MS = 65_000;

/**
 * Serves an app over HTTP/1.1. Headers and bodies that trickle in are cut off, and headers over 64 KiB are 431; the sizes
 * of bodies are the app's matter. Node's own parser answers malformed requests with 400 and closes.
 */
export async function listen(
  app: FetchApp,
  options: ListenOptions,
): Promise<Result<ListeningServer, ListenProblem>> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    // The faster objects would replace the global ones, also for the handlers of users in this process.
    overrideGlobalObjects: false,
    serverOptions: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: options.headersTimeoutMs ?? 15_000,
      requestTimeout: options.requestTimeoutMs ?? 60_000,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1000,
    },
  });
  closeWithLastAnswer(server, options.clock);
  const problem = await started(server, options);
  if (problem !== null) return err(problem);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  return ok({ host: options.host, port, close: (graceMs) => closed(server, options.clock, graceMs) });
}

/** The address of the peer from what `listen` hands to the app beside a request; empty for another host. */
export function peerOf(hostEnv: unknown): string {
  const incoming = memberOf(hostEnv, 'incoming');
  const address = memberOf(memberOf(incoming, 'socket'), 'remoteAddress');
  return typeof address === 'string' ? address : '';
}

type AdaptorServer = ReturnType<typeof createAdaptorServer>;

function started(server: AdaptorServer, { host, port }: ListenOptions): Promise<ListenProblem | null> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      resolve({ code: error.code ?? 'UNKNOWN', message: error.message });
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve(null);
    });
  });
}

function closed(server: AdaptorServer, clock: Pick<Clock, 'after'>, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const stopWaiting = clock.after(graceMs, () => {
      if (isHttpServer(server)) server.closeAllConnections();
    });
    server.close(() => {
      stopWaiting();
      resolve();
    });
  });
}

/** A connection whose answer ends while the server closes would be kept for a next request that must not come. */
function closeWithLastAnswer(server: AdaptorServer, clock: Pick<Clock, 'after'>): void {
  server.on('request', (_request: unknown, response: ServerResponse) => {
    response.once('close', () => {
      if (!server.listening && isHttpServer(server)) clock.after(0, () => server.closeIdleConnections());
    });
  });
}

function isHttpServer(server: AdaptorServer): server is Server {
  return 'closeIdleConnections' in server;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const found: unknown = Reflect.get(value, name);
  return found;
}
