import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** A namespace of its own, in which the program is process 1 as in a container. */
const IN_NAMESPACE = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child=KILL'];
const canUnshare = spawnSync('unshare', [...IN_NAMESPACE, 'true']).status === 0;

/** What `stepwell` does first, before any command is loaded. */
const program = (signal: string, listens: boolean): string => `
  ${listens ? `process.on('${signal}', () => console.log('heard'));` : ''}
  const { endOnSignals } = await import('./src/cli/end-on-signals.ts');
  endOnSignals(process.pid);
  console.log('process ' + process.pid);
  // Keeps it alive, and is ended by nothing but a signal.
  (await import('node:net')).createServer().listen(0, '127.0.0.1');
`;

let child: ChildProcess | null = null;
afterEach(() => child?.kill('SIGKILL'));

async function afterSignal(signal: 'SIGTERM' | 'SIGINT', listens: boolean) {
  const node = [process.execPath, '--import', resolve(ROOT, 'node_modules/tsx/dist/loader.mjs')];
  const started = spawn(
    'unshare',
    [...IN_NAMESPACE, ...node, '--input-type=module', '-e', program(signal, listens)],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  child = started;
  let said = '';
  started.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await waitUntil('it runs', () => said.includes('process 1\n'));
  const children = readFileSync(`/proc/${started.pid}/task/${started.pid}/children`, 'utf8');
  const inside = Number(children.trim());
  process.kill(inside, signal);
  if (listens) {
    await waitUntil('it has heard', () => said.includes('heard'));
    process.kill(inside, signal);
    await waitUntil('it hears on', () => said.split('heard').length > 2);
    return null;
  }
  await once(started, 'close');
  return started.exitCode;
}

describe.runIf(canUnshare)('process 1 of a container', () => {
  it('ends at signals that nobody else listens for', async () => {
    expect(await afterSignal('SIGTERM', false)).toBe(143);
    expect(await afterSignal('SIGINT', false)).toBe(130);
  });

  it('leaves them to whoever listens', async () => {
    expect(await afterSignal('SIGTERM', true)).toBeNull();
  });
});
