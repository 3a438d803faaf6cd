import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface LoopbackServer {
  readonly port: number;
  /** Every request that arrived whole, in order. */
  readonly seen: SeenRequest[];
  /** Connections accepted so far. */
  readonly connectionCount: () => number;
  /** Resolves when a connection that was open is closed. */
  readonly connectionClosed: Promise<void>;
}

type Answer = (request: SeenRequest, response: ServerResponse) => void;

/** A real HTTP server on 127.0.0.1 which ends with the test; with `tls` an HTTPS one. */
export async function loopbackServer(
  answer: Answer,
  tls?: { readonly key: string; readonly cert: string },
): Promise<LoopbackServer> {
  const seen: SeenRequest[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const whole: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      seen.push(whole);
      answer(whole, response);
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const sockets = new Set<Socket>();
  let connectionCount = 0;
  let markClosed: () => void = () => undefined;
  const connectionClosed = new Promise<void>((resolve) => {
    markClosed = resolve;
  });
  server.on('connection', (socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => markClosed());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  return { port, seen, connectionCount: () => connectionCount, connectionClosed };
}
