import type { Server } from 'node:http';
import { connect } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface TunnelHooks {
  /** A frame came from a client. */
  readonly onFrame: () => void;
  /** What bytes of the database wait for before they go on, ms; asked for each piece. */
  readonly latencyMs: () => number;
}

/** `p`: how a password message begins. */
const PASSWORD_MESSAGE = 0x70;

/** Carries the bytes of connections of PostgreSQL over WebSockets, as Neon's proxy does, to `?address=<host>:<port>`. */
export function tunnelWebSockets(server: Server, hooks: TunnelHooks): WebSocketServer {
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const address = new URL(request.url ?? '', 'http://localhost').searchParams.get('address') ?? '';
    sockets.handleUpgrade(request, socket, head, (client) => join(client, address, hooks));
  });
  return sockets;
}

function join(client: WebSocket, address: string, { onFrame, latencyMs }: TunnelHooks): void {
  const [host = '', port = ''] = address.split(':');
  const database = connect(Number(port), host);
  const withoutPassword = passwordFilter();
  database.setNoDelay(true);
  client.on('message', (data: Buffer) => {
    onFrame();
    database.write(withoutPassword(data));
  });
  // One after the other, so that a change of the latency does not change their order.
  let sent = Promise.resolve();
  database.on('data', (data) => {
    const ms = latencyMs();
    const arrived = ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
    sent = sent.then(async () => {
      await arrived;
      client.send(data);
    });
  });
  const close = (): void => {
    sent = sent.then(() => client.close());
  };
  database.on('close', close);
  database.on('error', close);
  client.on('close', () => database.destroy());
  client.on('error', () => database.destroy());
}

/**
 * Neon's driver sends the password right behind its first message, without being asked. Neon's proxy reads it; a server
 * that trusts everybody would take it for a mistake.
 */
function passwordFilter(): (data: Buffer) => Buffer {
  let next: 'first message' | 'password' | 'anything' = 'first message';
  let held = Buffer.alloc(0);
  return (data) => {
    held = Buffer.concat([held, data]);
    let passed = Buffer.alloc(0);
    if (next === 'first message') {
      const end = endOfMessage(held, 0);
      if (end === null) return passed;
      passed = held.subarray(0, end);
      held = held.subarray(end);
      next = 'password';
    }
    if (next === 'password' && held.length > 0) {
      const end = held[0] === PASSWORD_MESSAGE ? endOfMessage(held, 1) : 0;
      if (end === null) return passed;
      held = held.subarray(end);
      next = 'anything';
    }
    if (next === 'anything') {
      passed = Buffer.concat([passed, held]);
      held = Buffer.alloc(0);
    }
    return passed;
  };
}

/** Where the message ends whose length stands here; null while not all of it is there. */
function endOfMessage(bytes: Buffer, at: number): number | null {
  if (bytes.length < at + 4) return null;
  const end = at + bytes.readInt32BE(at);
  return bytes.length < end ? null : end;
}
