import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FoundFunction } from './resources.ts';
import { type RuntimeApi, startRuntimeApi } from './runtime-api.ts';
import { RUNTIME_CLIENT_PROGRAM } from './tools.ts';

/**
 * A function as AWS runs it: processes that serve one event at a time, under the real runtime client. Between two events they are
 * frozen, so what is not awaited before the answer stays undone until the next event, or for ever.
 */
export interface Lambda {
  readonly name: string;
  /** One event; rejects when the function fails, its process ends, or the time is up that was registered for it. */
  invoke(event: unknown): Promise<unknown>;
  /** Processes that were started so far. */
  startedCount(): number;
  /** Ends the processes that are at work, without a word; answers how many. */
  killBusy(): number;
  /** Lines that the function has written. */
  readonly log: readonly string[];
  close(): void;
}

export interface LambdaOptions {
  /** What was registered for it. */
  readonly found: FoundFunction;
  /** Folder with its bundle. */
  readonly folder: string;
  /** On top of what was registered. */
  readonly environment: Readonly<Record<string, string>>;
  /** Node to run it on. */
  readonly program: string;
  /** Most processes at once. */
  readonly concurrency: number;
}

interface Process {
  readonly child: ChildProcess;
  readonly api: RuntimeApi;
  /** Resolves when it has ended. */
  readonly gone: Promise<unknown>;
}

export function createLambda(options: LambdaOptions): Lambda {
  const { found, concurrency } = options;
  const log: string[] = [];
  const idle: Process[] = [];
  const busy = new Set<Process>();
  const queue: (() => void)[] = [];
  let started = 0;
  let starting = 0;

  const acquire = async (): Promise<Process> => {
    for (;;) {
      const free = idle.pop();
      if (free !== undefined) return free;
      if (busy.size + starting < concurrency) {
        starting += 1;
        started += 1;
        try {
          return await startProcess(options, log, (gone) => {
            busy.delete(gone);
            idle.splice(0, idle.length, ...idle.filter((other) => other !== gone));
          });
        } finally {
          starting -= 1;
        }
      }
      await new Promise<void>((resolve) => queue.push(resolve));
    }
  };

  return {
    name: found.resourceName,
    log,
    startedCount: () => started,
    async invoke(event) {
      const taken = await acquire();
      busy.add(taken);
      const timeout = setTimeout(() => taken.child.kill('SIGKILL'), found.timeout * 1000);
      taken.child.kill('SIGCONT');
      try {
        return await taken.api.invoke(event);
      } finally {
        // The caller has its answer; the process is free again when it has asked for the next event.
        void Promise.race([taken.api.idle(), taken.gone]).then(() => {
          clearTimeout(timeout);
          if (busy.delete(taken)) {
            taken.child.kill('SIGSTOP');
            idle.push(taken);
          }
          queue.shift()?.();
        });
      }
    },
    killBusy() {
      for (const { child } of busy) child.kill('SIGKILL');
      return busy.size;
    },
    close() {
      for (const { child, api } of [...busy, ...idle]) {
        child.kill('SIGKILL');
        api.close();
      }
    },
  };
}

/** As the stand-in of the cloud gives it out (evaluate.mjs). */
export function arnOf({ resourceName }: Pick<FoundFunction, 'resourceName'>): string {
  return `arn:aws:lambda:us-east-1:000000000000:${resourceName}`;
}

async function startProcess(
  { found, folder, environment, program }: LambdaOptions,
  log: string[],
  onGone: (gone: Process) => void,
): Promise<Process> {
  const api = await startRuntimeApi(arnOf(found), found.timeout * 1000);
  const child = spawn(program, [RUNTIME_CLIENT_PROGRAM, found.handler], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'preload.mjs')}`,
      AWS_LAMBDA_RUNTIME_API: api.address,
      AWS_LAMBDA_FUNCTION_NAME: found.name,
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(found.memorySize),
      AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${found.name}`,
      AWS_LAMBDA_LOG_STREAM_NAME: `local-${process.pid}-${api.address}`,
      LAMBDA_TASK_ROOT: folder,
      _HANDLER: found.handler,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...found.environment.variables,
      ...environment,
    },
  });
  const started: Process = { child, api, gone: once(child, 'exit') };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => log.push(...data.toString('utf8').split('\n').filter(Boolean)));
  }
  child.once('exit', (code, signal) => {
    onGone(started);
    api.fail(
      new Error(`the process of ${found.name} ended (${signal ?? code}): ${log.slice(-5).join('\n')}`),
    );
    api.close();
  });
  return started;
}
