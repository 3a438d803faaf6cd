import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Accepts connections, and never says a word. */
export interface SilentServer {
  readonly endpoint: string;
  /** Connections so far. */
  readonly sockets: readonly Socket[];
  /** Resolves when somebody has connected and said something. */
  readonly called: Promise<unknown>;
  close(): void;
}

export async function startSilentServer(): Promise<SilentServer> {
  const sockets: Socket[] = [];
  let heard = (): void => undefined;
  const called = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.once('data', () => heard());
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    called,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** An address that nobody listens at. */
export async function refusingEndpoint(): Promise<string> {
  const server = await startSilentServer();
  server.close();
  return server.endpoint;
}
