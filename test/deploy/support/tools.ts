import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/*
 * What the tests of a deployment need beside the packages of the repository. Each is installed once, into the cache of the
 * packages: sst's platform with Pulumi, the client that runs functions on AWS, which is compiled, and, where they are asked for, the
 * programs of other versions of Node. All of it comes from the registry of npm.
 */

export const ROOT = resolve(import.meta.dirname, '../../..');
const CACHE = join(ROOT, 'node_modules/.cache/stepwell-deploy');
const SST = join(CACHE, 'sst-4.17.1');
const RUNTIME_CLIENT = join(CACHE, 'aws-lambda-ric-4.0.2');
const NODES = join(CACHE, 'nodes');
const NODE_VERSIONS = [20, 22, 24];

/** The folder of sst's own components. */
export const PLATFORM = join(SST, '.sst/platform');
/** The program that fetches events and calls a handler, as in AWS's own base images. */
export const RUNTIME_CLIENT_PROGRAM = join(RUNTIME_CLIENT, 'node_modules/aws-lambda-ric/index.mjs');

/** Versions of Node that the functions are run on: the one of the tests, or those of STEPWELL_TEST_NODES (`20,22,24`). */
export function testedNodes(): readonly { readonly version: string; readonly program: string }[] {
  const own = process.versions.node.split('.')[0] ?? '';
  const versions = (process.env['STEPWELL_TEST_NODES'] ?? own).split(',');
  return versions.map((version) => ({
    version,
    program: version === own ? process.execPath : join(NODES, `node_modules/node${version}/bin/node`),
  }));
}

export interface InstalledTool {
  readonly name: string;
  /** Installed now, and not found from an earlier run. */
  readonly isNew: boolean;
  /** Why it is not there. */
  readonly problem: string | null;
}

/** Installs what is not there yet, side by side. Never rejects. */
export function installTools(): Promise<readonly InstalledTool[]> {
  const needsNodes = testedNodes().some(({ program }) => program !== process.execPath);
  return Promise.all([
    once("sst's components with Pulumi", SST, installPlatform),
    once("AWS's runtime client", RUNTIME_CLIENT, (folder) => install(folder, ['aws-lambda-ric@4.0.2'])),
    ...(needsNodes ? [once(`Node ${NODE_VERSIONS.join(', ')}`, NODES, installNodes)] : []),
  ]);
}

/** What cannot be installed is told, and fails the tests that need it: all others run all the same. */
export default async function setup(): Promise<void> {
  // `npm run deploy:check` has done it, and told.
  if (process.env['STEPWELL_DEPLOY_TOOLS'] === 'done') return;
  for (const { name, problem } of await installTools()) {
    if (problem !== null) console.error(`the deployment tests lack ${name}: ${problem}`);
  }
}

/** A folder under its final name is complete. */
async function once(
  name: string,
  folder: string,
  fill: (folder: string) => Promise<void>,
): Promise<InstalledTool> {
  if (existsSync(folder)) return { name, isNew: false, problem: null };
  const begun = `${folder}.${process.pid}`;
  rmSync(begun, { recursive: true, force: true });
  mkdirSync(begun, { recursive: true });
  writeFileSync(join(begun, 'package.json'), '{ "private": true, "type": "module" }');
  try {
    await fill(begun);
    renameSync(begun, folder);
    return { name, isNew: true, problem: null };
  } catch (error) {
    rmSync(begun, { recursive: true, force: true });
    return { name, isNew: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Without a network npm would try again for minutes. */
const QUICK_TO_GIVE_UP = {
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_fetch_retry_maxtimeout: '3000',
};

async function installPlatform(folder: string): Promise<void> {
  const app = "{ name: 'tools', home: 'aws', providers: { aws: '7.20.0' } }";
  writeFileSync(
    join(folder, 'sst.config.ts'),
    `export default $config({ app: () => (${app}), async run() {} });\n`,
  );
  const registry = (await run(folder, 'npm', ['config', 'get', 'registry'])).trim().replace(/\/$/, '');
  await run(folder, join(ROOT, 'node_modules/.bin/sst'), ['install', '--stage', 'dev'], {
    SST_SKIP_DEPENDENCY_CHECK: '1',
    SST_TELEMETRY_DISABLED: '1',
    NO_BUN: '1',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...QUICK_TO_GIVE_UP,
    NPM_REGISTRY: registry,
  });
  const lock = readFileSync(join(folder, '.sst/provider-lock.json'), 'utf8');
  if (!lock.includes('@pulumi/aws')) throw new Error('sst did not install its provider for AWS');
}

/** npm has the programs alone for each platform; one of them is named otherwise. */
const PLATFORM_NAME = `${process.platform}-${process.arch}`;
const NODE_PACKAGE = `${PLATFORM_NAME === 'darwin-arm64' ? 'node-bin' : 'node'}-${PLATFORM_NAME}`;

const installNodes = (folder: string): Promise<void> =>
  install(
    folder,
    NODE_VERSIONS.map((version) => `node${version}@npm:${NODE_PACKAGE}@${version}`),
  );

async function install(folder: string, packages: readonly string[]): Promise<void> {
  await run(folder, 'npm', ['install', '--no-audit', '--no-fund', ...packages], QUICK_TO_GIVE_UP);
}

function run(
  cwd: string,
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((settle, fail) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...environment } });
    const said: Buffer[] = [];
    child.stdout.on('data', (data) => said.push(data));
    child.stderr.on('data', (data) => said.push(data));
    child.once('error', fail);
    child.once('close', (code) => {
      const output = Buffer.concat(said).toString('utf8');
      if (code === 0) settle(output);
      else fail(new Error(`${program} ${args.join(' ')} ended with code ${code}\n${output}`));
    });
  });
}
