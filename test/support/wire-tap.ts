import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What a client sends to a PostgreSQL server. */
export type WireMessage =
  | { readonly kind: 'startup'; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'query'; readonly text: string }
  | { readonly kind: 'parse'; readonly name: string; readonly text: string }
  | { readonly kind: 'bind'; readonly name: string }
  | { readonly kind: 'other'; readonly type: string };

/** `before`: the server never sees the message. `after`: it answers, and nobody hears it. */
export type Cut = 'before' | 'after';

/** A line to a real PostgreSQL server that is listened to, and that breaks where a test wants it to. */
export interface WireTap {
  /** The address of the database by way of the tap. */
  readonly url: string;
  readonly messages: readonly WireMessage[];
  readonly connectionCount: () => number;
  /** Forgets the messages so far. */
  clear(): void;
  /** Ends every connection, as a network does that lost a peer. */
  cutAll(): void;
  /** The next message that fits breaks its connection. */
  cutAt(cut: Cut, fits: (message: WireMessage) => boolean): void;
  /** The next `count` connections are answered with this SQLSTATE, or null: with nothing at all. */
  refuse(count: number, error: { readonly code: string; readonly message: string } | null): void;
  /** Startup messages that fit are answered with this error, for as long as the tap lives. */
  refuseStartup(
    fits: (params: Readonly<Record<string, string>>) => boolean,
    code: string,
    message: string,
  ): void;
  close(): Promise<void>;
}

interface State {
  messages: WireMessage[];
  readonly clients: Set<Socket>;
  connections: number;
  cut: { readonly cut: Cut; readonly fits: (message: WireMessage) => boolean } | null;
  refusals: { count: number; readonly answer: Buffer | null };
  startup: {
    readonly fits: (params: Readonly<Record<string, string>>) => boolean;
    readonly answer: Buffer;
  } | null;
}

export async function startWireTap(databaseUrl: string): Promise<WireTap> {
  const target = new URL(databaseUrl);
  const state: State = {
    messages: [],
    clients: new Set(),
    connections: 0,
    cut: null,
    refusals: { count: 0, answer: null },
    startup: null,
  };
  const server = createServer((client) => accept(client, target, state));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get messages() {
      return state.messages;
    },
    connectionCount: () => state.connections,
    clear() {
      state.messages = [];
    },
    cutAll() {
      for (const client of state.clients) client.resetAndDestroy();
    },
    cutAt(cut, fits) {
      state.cut = { cut, fits };
    },
    refuse(count, error) {
      state.refusals = { count, answer: error === null ? null : fatal(error.code, error.message) };
    },
    refuseStartup(fits, code, message) {
      state.startup = { fits, answer: fatal(code, message) };
    },
    async close() {
      for (const client of state.clients) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function accept(client: Socket, target: URL, state: State): void {
  state.connections += 1;
  client.on('error', () => {});
  if (state.refusals.count > 0) {
    state.refusals.count -= 1;
    const { answer } = state.refusals;
    if (answer === null) client.resetAndDestroy();
    else client.once('data', () => client.end(answer));
    return;
  }
  state.clients.add(client);
  const server = connect(Number(target.port), target.hostname);
  let isCut = false;
  const read = messageReader((message) => {
    state.messages.push(message);
    if (message.kind === 'startup' && state.startup?.fits(message.params) === true) {
      isCut = true;
      client.end(state.startup.answer);
      return;
    }
    if (state.cut?.fits(message) !== true) return;
    isCut = true;
    if (state.cut.cut === 'before') client.resetAndDestroy();
    state.cut = null;
  });
  client.on('data', (data) => {
    read(data);
    if (!client.destroyed) server.write(data);
  });
  server.on('data', (data) => {
    if (!isCut) client.write(data);
    else if (saysReady(data)) client.resetAndDestroy();
  });
  server.on('error', () => client.destroy());
  server.on('close', () => client.end());
  client.on('close', () => {
    state.clients.delete(client);
    server.destroy();
  });
}

/** The server is done with the transaction: `Z`, length 5, idle. */
function saysReady(data: Buffer): boolean {
  return data.subarray(-6).equals(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]));
}

/** Takes the bytes of one connection, in whatever pieces they come. */
function messageReader(tell: (message: WireMessage) => void): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  let hasStarted = false;
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const head = hasStarted ? 1 : 0;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      tell(hasStarted ? typedMessage(rest.subarray(0, length)) : startupMessage(rest.subarray(0, length)));
      hasStarted = true;
      rest = rest.subarray(length);
    }
  };
}

function startupMessage(bytes: Buffer): WireMessage {
  const words = texts(bytes.subarray(8));
  const params: Record<string, string> = {};
  for (let at = 0; at + 1 < words.length; at += 2) params[words[at] ?? ''] = words[at + 1] ?? '';
  return { kind: 'startup', params };
}

function typedMessage(bytes: Buffer): WireMessage {
  const type = String.fromCharCode(bytes[0] ?? 0);
  const [first = '', second = ''] = texts(bytes.subarray(5));
  switch (type) {
    case 'Q':
      return { kind: 'query', text: first };
    case 'P':
      return { kind: 'parse', name: first, text: second };
    case 'B':
      return { kind: 'bind', name: second };
    default:
      return { kind: 'other', type };
  }
}

function texts(bytes: Buffer): readonly string[] {
  return bytes.toString('utf8').split('\0');
}

function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
