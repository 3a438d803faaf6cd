import { execFileSync } from 'node:child_process';
import type { ServerProcess } from '../support/cli-process.ts';
import { waitUntil } from '../support/wait-until.ts';

export interface Heard {
  readonly status: number;
  readonly text: string;
  /** The JSON body; undefined when there is none. */
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface Sent {
  readonly method: string;
  /** With prefix and query. */
  readonly path: string;
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls a server with anything, and holds every answer to what all answers must be. */
export interface Torturer {
  send(sent: Sent): Promise<Heard>;
  /** As `send`, for many, a few at a time. `judge` says what is wrong with an answer, or null. */
  all<T extends Sent>(sent: readonly T[], judge: (heard: Heard, sent: T) => string | null): Promise<void>;
  /** Notes what is wrong beyond single answers. */
  complain(what: string): void;
  /** What was wrong with answers since the last call, each in a line. */
  takeComplaints(): readonly string[];
  readonly count: number;
  /** Resident memory of the server in MB once it has let go of what it can. */
  settledMemoryMb(): Promise<number>;
}

const LANES = 12;
/** A request that takes longer hangs. */
const HANGS_AFTER_MS = 20_000;
const COMPLAINTS_MAX = 30;
/** Words of our inside that no answer may show. */
const INSIDE = /\bat .*\.(?:ts|js|mjs):\d+|node_modules|syntax error at or near|relation "|column "|SQLSTATE/;

export function createTorturer(server: ServerProcess, tenant: string): Torturer {
  let complaints: string[] = [];
  let count = 0;

  const send = async ({ method, path, raw, headers = {} }: Sent): Promise<Heard> => {
    count += 1;
    const response = await fetch(server.url + path, {
      method,
      headers: {
        'x-tenant-id': tenant,
        ...(raw === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(raw === undefined ? {} : { body: raw }),
      redirect: 'manual',
      signal: AbortSignal.timeout(HANGS_AFTER_MS),
    });
    if (response.headers.get('content-type') === 'text/event-stream') {
      await response.body?.cancel();
      return { status: response.status, text: '', body: undefined };
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
    return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
  };

  const complain = (what: string): void => {
    if (complaints.length < COMPLAINTS_MAX) complaints.push(what);
  };
  const complainOf = (sent: Sent, heard: Heard | null, what: string): void => {
    const body = typeof sent.raw === 'string' ? sent.raw.slice(0, 300) : '';
    complain(`${sent.method} ${sent.path.slice(0, 200)} ${body} → ${heard?.status ?? ''} ${what}`);
  };

  return {
    send,
    complain,
    takeComplaints() {
      const taken = complaints;
      complaints = [];
      return taken;
    },
    get count() {
      return count;
    },
    async all(sent, judge) {
      const queue = sent.values();
      const work = async (): Promise<void> => {
        for (const one of queue) {
          try {
            const heard = await send(one);
            const wrong = wrongWith(heard) ?? judge(heard, one);
            if (wrong !== null) complainOf(one, heard, wrong);
          } catch (error) {
            complainOf(one, null, `no answer: ${String(error)}`);
          }
        }
      };
      await Promise.all(Array.from({ length: LANES }, work));
    },
    settledMemoryMb: () => settledMemoryMb(server),
  };
}

/** What no answer may be, whatever was asked. */
function wrongWith({ status, text, body }: Heard): string | null {
  if (status >= 500) return `is a failure of the server: ${text.slice(0, 300)}`;
  if (status < 400) return null;
  const isError = typeof body?.error === 'string' && typeof body?.code === 'string';
  if (!isError) return `is no error of ours: ${text.slice(0, 300)}`;
  if (INSIDE.test(text)) return `shows our inside: ${text.slice(0, 300)}`;
  return text.length > 60_000 ? `has ${text.length} characters` : null;
}

/** The server collects its garbage when it is told to, and says so (collect-on-signal.mjs). */
async function settledMemoryMb(server: ServerProcess): Promise<number> {
  const { child, stderr } = server;
  const collected = (): number => stderr().split('garbage collected').length;
  const seen: number[] = [];
  for (let look = 0; look < 3; look += 1) {
    const before = collected();
    child.kill('SIGUSR2');
    await waitUntil('the garbage is collected', () => collected() > before);
    seen.push(residentMb(child.pid ?? 0));
  }
  return Math.min(...seen);
}

function residentMb(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
}
