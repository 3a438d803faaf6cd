import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { DeskLine } from './ledger.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const ENGINE_READY_WITHIN_MS = 30_000;

/** Line of `stepwell dev --json` when it takes calls. */
const ReadyLine = z.looseObject({ event: z.literal('ready'), url: z.string(), ready_ms: z.number() });

export interface Desk {
  readonly url: string;
  readonly stop: () => void;
}

/** Starts the desk; it stops with us, also when we are killed, since its input ends then. */
export async function startDesk(seed: number, onLine: (line: DeskLine) => void): Promise<Desk> {
  const child = spawn(process.execPath, ['--import', 'tsx', `${HERE}desk-process.ts`, String(seed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the desk ended with code ${code}`)));
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = DeskLine.parse(JSON.parse(text));
      if (line.type === 'ready') resolve({ url: line.url, stop: () => child.kill('SIGKILL') });
      else onLine(line);
    });
  });
}

export interface Engine {
  readonly pid: number;
  readonly readyMs: number;
  /** kill -9: no chance to tidy up. Resolves when the process is gone. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface EngineOptions {
  readonly port: number;
  readonly dataFolder: string;
  readonly database: string | null;
}

/** Starts `stepwell dev` as a user would, and resolves when it says that it is ready. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const flags = ['--port', String(options.port), '--handlers', `${HERE}handlers.ts`, '--json'];
  const data = options.database === null ? ['--data', options.dataFolder] : [];
  const child = spawn(process.execPath, ['--import', 'tsx', CLI, 'dev', ...flags, ...data], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      // The desk listens on the loopback interface, which handlers may not reach unless this says so.
      STEPWELL_ALLOW_INTERNAL_URLS: '1',
      STEPWELL_LOG_LEVEL: 'warn',
      // On a server somebody else may be running what a dead process held, so the lease has to expire first.
      STEPWELL_LEASE_MS: '3000',
      STEPWELL_SWEEP_INTERVAL_SECS: '1',
      // The desk is meant to fail; a breaker that spares it for a minute would only make the story long.
      STEPWELL_BREAKER_FAILURE_THRESHOLD: '1000',
      ...(options.database === null ? {} : { STEPWELL_DATABASE_URL: options.database }),
    },
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const readyMs = await untilReady(child);
  return {
    pid: child.pid ?? 0,
    readyMs,
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
  };
}

function untilReady(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const fail = (reason: string) => reject(new Error(`${reason}\n${said.slice(-20).join('\n')}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`the engine was not ready within ${ENGINE_READY_WITHIN_MS / 1000} s`);
    }, ENGINE_READY_WITHIN_MS);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`the engine ended with code ${code} before it was ready`);
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (text) => {
        said.push(text);
        const ready = ReadyLine.safeParse(jsonOrNull(text));
        if (!ready.success) return;
        clearTimeout(timer);
        resolve(ready.data.ready_ms);
      });
    }
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
