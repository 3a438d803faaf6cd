import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../../..');

export interface ProgramRun {
  readonly exitCode: number | null;
  readonly output: string;
}

export interface RunningProgram {
  readonly ended: Promise<ProgramRun>;
  readonly kill: (signal: 'SIGTERM') => void;
}

/** A project of somebody else, in a temporary folder, that has installed the package as it is built in dist/. */
export interface ConsumerProject {
  write(path: string, text: string): void;
  /** Runs a file under plain Node. */
  node(path: string): Promise<ProgramRun>;
  /** As `node`, for a program that does not end by itself. */
  start(path: string): RunningProgram;
  /** Type-checks files against the declarations of the package; the text of the compiler is empty when all is well. */
  typeCheck(files: readonly string[], options: object): Promise<ProgramRun>;
  remove(): void;
}

export function createConsumerProject(): ConsumerProject {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-consumer-'));
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
  symlinkSync(root, join(folder, 'node_modules', 'stepwell'));
  for (const name of ['zod', '@types/node', 'undici-types']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write('package.json', JSON.stringify({ name: 'consumer', type: 'module' }));
  return {
    write,
    node: (path) => startProgram([path], folder).ended,
    start: (path) => startProgram([path], folder),
    typeCheck: (files, options) => {
      write('tsconfig.json', JSON.stringify({ compilerOptions: { ...strictest, ...options }, files }));
      return startProgram([join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'], folder)
        .ended;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const strictest = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'ES2022',
  module: 'nodenext',
  noEmit: true,
  skipLibCheck: true,
};

function startProgram(args: readonly string[], cwd: string): RunningProgram {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<ProgramRun>((resolvePromise, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolvePromise({ exitCode, output }));
  });
  return { ended, kill: (signal) => child.kill(signal) };
}
