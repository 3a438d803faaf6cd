import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** A small tree of source files in a temporary folder, for planting faults that a gate has to report. */
export interface FixtureTree {
  readonly folder: string;
  /** Runs a tool of node_modules/.bin in the folder. A tool that reports faults exits with a code other than 0. */
  run(tool: string, args: readonly string[]): Promise<ToolRun>;
  remove(): void;
}

export interface ToolRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const root = resolve(import.meta.dirname, '../..');

/**
 * Writes `files` (path to text) and copies `configuration`, paths of this repository, to the same places. With
 * `packages: 'installed'` the tree sees this repository's packages.
 */
export function plantTree(
  files: Readonly<Record<string, string>>,
  configuration: readonly string[],
  packages: 'none' | 'installed' = 'none',
): FixtureTree {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-gate-'));
  for (const path of configuration) {
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  if (packages === 'installed') {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  }
  return {
    folder,
    run: (tool, args) => runTool(join(root, 'node_modules', '.bin', tool), args, folder),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function runTool(program: string, args: readonly string[], cwd: string): Promise<ToolRun> {
  return new Promise((resolvePromise, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (exitCode) => resolvePromise({ exitCode, stdout, stderr }));
  });
}
