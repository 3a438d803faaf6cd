import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataFolder } from '../../src/adapters/local/data-folder.ts';
import { systemClock } from '../../src/adapters/system.ts';

const fixture = new URL('./fixtures/hold-folder.ts', import.meta.url).pathname;

let root: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stepwell-folder-'));
});

afterEach(async () => {
  for (const child of children.splice(0)) await end(child, 'SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

/** A process of its own that opens the folder; `said` is its first output. */
async function holder(folder: string, place: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', fixture, folder, place], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Socket files of killed holders go with this folder.
    env: { ...process.env, TMPDIR: root },
  });
  children.push(child);
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  while (!said.includes('\n')) await once(child.stdout ?? child, 'data');
  return { child, said };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

const places = process.platform === 'linux' ? ['abstract', 'file'] : ['file'];

describe.each(places)('the data folder with a lock of kind %s', (place) => {
  it('refuses a second process and names the first one and the way out', async () => {
    const folder = join(root, 'data');
    const first = await holder(folder, place);
    expect(first.said).toBe('locked\n');
    const second = await holder(folder, place);
    expect(second.said).toContain(`is in use by another process (pid ${first.child.pid})`);
    expect(second.said).toContain('--data <another folder>');
  });

  it('is free again right after kill -9 of its holder', async () => {
    const folder = join(root, 'data');
    const first = await holder(folder, place);
    await end(first.child, 'SIGKILL');
    expect((await holder(folder, place)).said).toBe('locked\n');
  });

  it('stays locked while its holder is stopped and cannot answer', async () => {
    const folder = join(root, 'data');
    const first = await holder(folder, place);
    first.child.kill('SIGSTOP');
    expect((await holder(folder, place)).said).toContain('is in use by another process;');
  });

  it('is one folder however its path is written', async () => {
    const first = await holder(join(root, 'data'), place);
    expect(first.said).toBe('locked\n');
    symlinkSync(join(root, 'data'), join(root, 'other-name'));
    expect((await holder(join(root, 'other-name'), place)).said).toContain(`pid ${first.child.pid}`);
  });

  it('goes to exactly one of several processes that find a dead lock at once', async () => {
    const folder = join(root, 'data');
    await end((await holder(folder, place)).child, 'SIGKILL');
    const all = await Promise.all([1, 2, 3].map(() => holder(folder, place)));
    expect(all.filter(({ said }) => said === 'locked\n')).toHaveLength(1);
  });
});

describe('openDataFolder', () => {
  it('makes the folder, keeps it out of git and gives it back on release', async () => {
    const folder = join(root, 'deep', 'data');
    for (const _round of [1, 2]) {
      const opened = await openDataFolder(folder, systemClock);
      if (!opened.ok) throw new Error(opened.error.message);
      expect(existsSync(folder)).toBe(true);
      expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
      await opened.value.release();
    }
  });

  it('says what to do when the path cannot be a folder', async () => {
    writeFileSync(join(root, 'file'), '');
    const opened = await openDataFolder(join(root, 'file'), systemClock);
    expect(opened).toMatchObject({
      ok: false,
      error: {
        message: expect.stringContaining('cannot be used'),
        next: 'Choose another one with --data <folder>.',
      },
    });
  });
});
