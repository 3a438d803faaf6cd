import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll } from 'vitest';
import * as z from 'zod';

const SOURCE = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

/** None of them may outlive the test file. */
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  if (bundled !== undefined) rmSync(bundled.folder, { recursive: true, force: true });
});

let bundled: { readonly folder: string; readonly done: Promise<unknown> } | undefined;

/** The command line bundled from the sources, once per test file: it starts several times faster than with a loader. */
async function bundledCli(): Promise<string> {
  if (bundled === undefined) {
    // Inside the repository, so that packages and our own package.json are found as in dist/.
    mkdirSync(CACHE, { recursive: true });
    const folder = mkdtempSync(join(CACHE, 'stepwell-cli-'));
    const done = build({
      entryPoints: [SOURCE],
      outdir: folder,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      outExtension: { '.js': '.mjs' },
      logLevel: 'error',
    });
    bundled = { folder, done };
  }
  await bundled.done;
  return join(bundled.folder, 'main.mjs');
}

export interface CliOptions {
  /** Folder in which it runs; also where `.stepwell` would lie. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of `stepwell` to its end, from source, without colours. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = spawnCli(await bundledCli(), args, options);
  const said = collect(child);
  await exited(child);
  return { code: child.exitCode, stdout: said.stdout(), stderr: said.stderr() };
}

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends the signal and waits for the end; the exit code, or the signal's name when it was the end. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>;
}

const Ready = z.object({ event: z.literal('ready'), url: z.string() });

/** Starts `dev` or `serve` with --json on a free port and waits until it is ready. */
export async function startServer(args: readonly string[], options: CliOptions): Promise<ServerProcess> {
  const [command = 'dev', ...flags] = args;
  const child = spawnCli(await bundledCli(), [command, '--port', '0', '--json', ...flags], options);
  const said = collect(child);
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${command} ended:\n${said.stdout()}\n${said.stderr()}`)));
    createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => {
      const ready = Ready.safeParse(parsed(line));
      if (ready.success) resolve(ready.data.url);
    });
  });
  return {
    child,
    url,
    ...said,
    end: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await exited(child);
      return child.exitCode ?? child.signalCode;
    },
  };
}

function spawnCli(cli: string, args: readonly string[], { cwd, env }: CliOptions): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(STEPWELL_|FORCE_COLOR$)/.test(name));
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

function collect(child: ChildProcess): Pick<ServerProcess, 'stdout' | 'stderr'> {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk;
    });
  }
  return { stdout: () => texts.stdout, stderr: () => texts.stderr };
}

async function exited(child: ChildProcess): Promise<void> {
  // `close` comes after the output was read to its end, `exit` before.
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
