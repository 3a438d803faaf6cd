import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { neonConfig } from '@neondatabase/serverless';
import pg from 'pg';
import WebSocket from 'ws';
import * as z from 'zod';
import { tunnelWebSockets } from './neon-tunnel.ts';

/**
 * What stands before a Neon database, over any PostgreSQL server: its HTTP protocol (POST /sql, one query or several as
 * one transaction) and the WebSocket that carries the bytes of an ordinary connection. So the real driver runs in tests,
 * and a test can count round trips and add the latency of a region.
 */
export interface NeonLocal {
  /** HTTP requests so far; each is one round trip. */
  requestCount(): number;
  /** Statements of those requests. */
  statementCount(): number;
  /** Bytes of the answers to those requests. */
  answerBytes(): number;
  /** Frames that came from WebSocket clients so far. */
  frameCount(): number;
  /** Milliseconds that every answer waits from now on; several come in turn, so that answers overtake each other. */
  setLatency(...ms: readonly number[]): void;
  /** The next `count` requests are carried out, but their answers are lost. */
  loseAnswers(count: number): void;
  /** The next `count` requests are refused with this HTTP status before anything is carried out. */
  refuse(count: number, status: number): void;
  close(): Promise<void>;
}

const oneQuery = z.object({ query: z.string(), params: z.array(z.unknown()).default([]) });
const body = z.union([z.object({ queries: z.array(oneQuery) }), oneQuery]);
type Query = z.infer<typeof oneQuery>;

/** Fields of a database error that the protocol passes on. */
const ERROR_FIELDS = [
  'code',
  'severity',
  'detail',
  'hint',
  'constraint',
  'schema',
  'table',
  'column',
  'where',
] as const;

const RAW_TEXT = { getTypeParser: () => (value: unknown) => value };

/** Starts the stand-in and points the driver of this process at it (`neonConfig` is one for the whole process). */
export async function startNeonLocal(): Promise<NeonLocal> {
  const pools = new Map<string, pg.Pool>();
  const state: State = {
    requests: 0,
    statements: 0,
    answerBytes: 0,
    frames: 0,
    latencies: [],
    latencyIndex: 0,
    lost: 0,
    refused: 0,
    refusedWith: 503,
  };
  const server = createServer((request, response) => {
    void answer(request, response, state, pools);
  });
  const sockets = tunnelWebSockets(server, {
    onFrame() {
      state.frames += 1;
    },
    latencyMs: () => nextLatency(state),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  pointDriverAt(port);
  return {
    requestCount: () => state.requests,
    statementCount: () => state.statements,
    answerBytes: () => state.answerBytes,
    frameCount: () => state.frames,
    setLatency(...ms) {
      state.latencies = ms;
    },
    loseAnswers(count) {
      state.lost = count;
    },
    refuse(count, status) {
      state.refused = count;
      state.refusedWith = status;
    },
    async close() {
      for (const client of sockets.clients) client.terminate();
      for (const pool of pools.values()) await pool.end();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pointDriverAt(port: number): void {
  neonConfig.fetchEndpoint = `http://127.0.0.1:${port}/sql`;
  neonConfig.wsProxy = (host, hostPort) => `127.0.0.1:${port}/v2?address=${host}:${hostPort}`;
  neonConfig.webSocketConstructor = WebSocket;
  neonConfig.useSecureWebSocket = false;
  neonConfig.pipelineTLS = false;
  neonConfig.forceDisablePgSSL = true;
}

interface State {
  requests: number;
  statements: number;
  answerBytes: number;
  frames: number;
  latencies: readonly number[];
  latencyIndex: number;
  lost: number;
  refused: number;
  refusedWith: number;
}

function nextLatency(state: State): number {
  state.latencyIndex += 1;
  return state.latencies[state.latencyIndex % state.latencies.length] ?? 0;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  state: State,
  pools: Map<string, pg.Pool>,
): Promise<void> {
  state.requests += 1;
  const text = await readAll(request);
  if (state.refused > 0) {
    state.refused -= 1;
    response.writeHead(state.refusedWith).end('refused by the test');
    return;
  }
  const outcome = await carryOut(String(request.headers['neon-connection-string']), text, pools, state);
  const latencyMs = nextLatency(state);
  if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
  if (state.lost > 0) {
    state.lost -= 1;
    request.socket.destroy();
    return;
  }
  const content = Buffer.from(JSON.stringify(outcome.body));
  state.answerBytes += content.byteLength;
  response.writeHead(outcome.status, { 'content-type': 'application/json' }).end(content);
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function carryOut(
  connectionString: string,
  text: string,
  pools: Map<string, pg.Pool>,
  state: Pick<State, 'statements'>,
): Promise<{ readonly status: number; readonly body: object }> {
  let client: pg.PoolClient | undefined;
  try {
    client = await poolFor(connectionString, pools).connect();
    const asked = body.parse(JSON.parse(text));
    state.statements += 'queries' in asked ? asked.queries.length : 1;
    if (!('queries' in asked)) return { status: 200, body: await run(client, asked) };
    await client.query('BEGIN');
    const results: object[] = [];
    for (const query of asked.queries) results.push(await run(client, query));
    await client.query('COMMIT');
    return { status: 200, body: { results } };
  } catch (error) {
    await client?.query('ROLLBACK').catch(() => {});
    return { status: 400, body: describeError(error) };
  } finally {
    client?.release();
  }
}

function poolFor(connectionString: string, pools: Map<string, pg.Pool>): pg.Pool {
  const known = pools.get(connectionString);
  if (known !== undefined) return known;
  const pool = new pg.Pool({ connectionString, max: 20 });
  pool.on('error', () => {});
  pools.set(connectionString, pool);
  return pool;
}

async function run(client: pg.PoolClient, { query, params }: Query): Promise<object> {
  const result = await client.query({ text: query, values: params, rowMode: 'array', types: RAW_TEXT });
  const fields = result.fields.map(({ name, dataTypeID }) => ({ name, dataTypeID }));
  return { command: result.command, rowCount: result.rowCount, rowAsArray: true, fields, rows: result.rows };
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const fields = ERROR_FIELDS.flatMap((name) =>
    name in error ? [[name, Reflect.get(error, name)] as const] : [],
  );
  return { message: error.message, ...Object.fromEntries(fields) };
}
