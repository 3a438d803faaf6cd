import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Advice } from '../../src/core/advice.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What the process answers: each handler with what it returns for `{ net: 10 }`, or the advice for the user. */
export type LoadedFile =
  | { readonly handlers: ReadonlyArray<{ readonly name: string; readonly output: unknown }> }
  | { readonly advice: Advice };

const PROGRAM = `
  import { loadHandlersFile } from './src/adapters/local/load-handlers.ts';
  import { handlerNameProblem } from './src/engine/handlers/handler-names.ts';
  import { collectHandlers } from './src/sdk/collect-handlers.ts';

  async function load(path) {
    const module = await loadHandlersFile(path);
    if (!module.ok) return { advice: module.error };
    const found = collectHandlers(module.value, 'handlers file', handlerNameProblem);
    if (!found.ok) return { advice: found.error };
    const handlers = [];
    for (const handler of found.value) handlers.push({ name: handler.name, output: await handler.run({ net: 10 }, {}) });
    return { handlers };
  }

  process.on('message', async (path) => process.send(await load(path)));
`;

export interface LoaderProcess {
  readonly load: (path: string) => Promise<LoadedFile>;
  readonly stop: () => Promise<void>;
}

/**
 * The loader as it is shipped, in a plain Node process: the test runner has its own way of importing modules, which
 * would hide how Node's behaves.
 */
export async function startLoaderProcess(): Promise<LoaderProcess> {
  // Inside the repository, so that the packages of the loader are found.
  const folder = await mkdtemp(join(ROOT, 'node_modules', '.stepwell-loader-'));
  const outfile = join(folder, 'loader.mjs');
  await build({
    stdin: { contents: PROGRAM, resolveDir: ROOT },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'silent',
  });
  const child: ChildProcess = fork(outfile, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  return {
    load: async (path) => {
      const answered = once(child, 'message');
      child.send(path);
      const [answer] = await answered;
      return answer;
    },
    stop: async () => {
      child.disconnect();
      if (child.exitCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
