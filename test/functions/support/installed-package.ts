import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Installs the package, as it is built from the sources now, with its dependencies and `others` into a project's folder. */
export async function installPackage(folder: string, others: readonly string[] = []): Promise<void> {
  const manifest = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(manifest);
  const installed = join(folder, 'node_modules/stepwell');
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), manifest);
  await runProgram(ROOT, ['scripts/build.mjs', join(installed, 'dist')], {});
  for (const name of [...Object.keys(dependencies), ...others]) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
}

/** Runs a program of Node; answers what it wrote, and rejects with that when it fails. */
export function runProgram(
  cwd: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  return new Promise((settle, fail) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...environment } });
    const said: Buffer[] = [];
    child.stdout.on('data', (data) => said.push(data));
    child.stderr.on('data', (data) => said.push(data));
    child.once('error', fail);
    child.once('close', (code) => {
      const output = Buffer.concat(said).toString('utf8');
      if (code === 0) settle(output);
      else fail(new Error(`${args.join(' ')} ended with code ${code}\n${output}`));
    });
  });
}
