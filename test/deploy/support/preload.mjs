import dns from 'node:dns';

/*
 * Loaded into every process that stands for a function: it leads what would go to Neon to the stand-in, over HTTP and over
 * WebSockets (which Node 20 has none of), and gives names below localhost, which the queue's addresses have, the address
 * that they have elsewhere.
 */
const { fetch: original } = globalThis;
globalThis.fetch = (input, init) => {
  const isNeon = init?.headers !== undefined && Object.hasOwn(init.headers, 'Neon-Connection-String');
  return original(isNeon ? process.env.TEST_NEON_ENDPOINT : input, init);
};

const { WebSocket: OriginalWebSocket } = globalThis;
if (OriginalWebSocket !== undefined) {
  globalThis.WebSocket = class extends OriginalWebSocket {
    constructor() {
      const { host } = new URL(process.env.STEPWELL_DATABASE_URL);
      const standIn = new URL(`/v2?address=${host}`, process.env.TEST_NEON_ENDPOINT);
      standIn.protocol = 'ws:';
      super(standIn);
    }
  };
}

const { lookup } = dns;
dns.lookup = (host, ...rest) => lookup(host.endsWith('.localhost') ? '127.0.0.1' : host, ...rest);
