import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { installPackage, runProgram } from './installed-package.ts';

/** The template of examples/deploy-cloudflare as a user would have it: a folder of its own with the package installed. */
export interface CloudflareProject {
  readonly configPath: string;
  /** What `wrangler deploy` would upload. */
  readonly bundle: string;
  /** What wrangler and the build command said. */
  readonly output: string;
  /** Runs wrangler in the folder; answers what it and the build command said. */
  wrangler(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<string>;
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
    await installPackage(folder, ['wrangler']);
    symlinkSync('../stepwell/dist/cli.js', join(folder, 'node_modules/.bin/stepwell'));
    const wrangler: CloudflareProject['wrangler'] = (args, environment = {}) =>
      runProgram(folder, ['node_modules/wrangler/bin/wrangler.js', ...args], {
        STEPWELL_DATABASE_URL: databaseUrl,
        WRANGLER_SEND_METRICS: 'false',
        WRANGLER_LOG_PATH: join(folder, 'logs'),
        XDG_CONFIG_HOME: join(folder, 'settings'),
        CI: '1',
        npm_lifecycle_event: '',
        ...environment,
      });
    const output = await wrangler(['deploy', '--dry-run', '--outdir', 'out']);
    return {
      configPath: join(folder, 'wrangler.jsonc'),
      bundle: readFileSync(join(folder, 'out/index.js'), 'utf8'),
      output,
      wrangler,
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
