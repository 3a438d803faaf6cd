import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The template of examples/deploy-cloudflare as a user would have it: a folder of its own with the package installed. */
export interface CloudflareProject {
  readonly configPath: string;
  /** What `wrangler deploy` would upload. */
  readonly bundle: string;
  /** What wrangler and the build command said. */
  readonly output: string;
  remove(): void;
}

const ROOT = resolve(import.meta.dirname, '../../..');

/**
 * Copies the template, installs the package as it is built from the sources now, and lets wrangler do everything of a
 * deployment but the upload: its build command migrates the database, its bundler makes the Worker.
 */
export async function deployDryRun(databaseUrl: string): Promise<CloudflareProject> {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-cloudflare-'));
  try {
    cpSync(join(ROOT, 'examples/deploy-cloudflare'), folder, { recursive: true });
    await installPackage(folder);
    const output = await run(
      folder,
      ['node_modules/.bin/wrangler', 'deploy', '--dry-run', '--outdir', 'out'],
      {
        STEPWELL_DATABASE_URL: databaseUrl,
        WRANGLER_SEND_METRICS: 'false',
        WRANGLER_LOG_PATH: join(folder, 'logs'),
        XDG_CONFIG_HOME: join(folder, 'settings'),
        CI: '1',
      },
    );
    return {
      configPath: join(folder, 'wrangler.jsonc'),
      bundle: readFileSync(join(folder, 'out/index.js'), 'utf8'),
      output,
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The package with its dependencies, and what the template needs beside it. */
async function installPackage(folder: string): Promise<void> {
  const manifest = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(manifest);
  const installed = join(folder, 'node_modules/stepwell');
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), manifest);
  await run(ROOT, ['scripts/build.mjs', join(installed, 'dist')], {});
  for (const name of [...Object.keys(dependencies), 'wrangler']) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
  symlinkSync('../stepwell/dist/cli.js', join(folder, 'node_modules/.bin/stepwell'));
  symlinkSync('../wrangler/bin/wrangler.js', join(folder, 'node_modules/.bin/wrangler'));
}

function run(cwd: string, args: readonly string[], environment: Record<string, string>): Promise<string> {
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
