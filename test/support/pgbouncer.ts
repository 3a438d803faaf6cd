import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** PgBouncer in transaction mode before a PostgreSQL server: fewer connections to it than clients have. */
export interface PgBouncer {
  /** The address of this database by way of it. */
  urlOf(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** Where PgBouncer is, when tests may use it: `STEPWELL_TEST_PGBOUNCER=/usr/sbin/pgbouncer`. */
export const PGBOUNCER_PROGRAM = process.env['STEPWELL_TEST_PGBOUNCER'] ?? '';

/**
 * Starts it before the server of this address. `settings` are lines of its configuration, e.g. that it swallows what it
 * would refuse.
 */
export async function startPgBouncer(
  databaseUrl: string,
  settings: readonly string[] = [],
): Promise<PgBouncer> {
  const { hostname, port } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-pgbouncer-'));
  chmodSync(folder, 0o755);
  const listenPort = await freePort();
  writeFileSync(join(folder, 'users.txt'), '"postgres" ""\n');
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${hostname} port=${port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${listenPort}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${join(folder, 'users.txt')}`,
      'pool_mode = transaction',
      'default_pool_size = 2',
      'server_lifetime = 3600',
      ...settings,
      '',
    ].join('\n'),
  );
  const child = spawn(PGBOUNCER_PROGRAM, [join(folder, 'pgbouncer.ini')], {
    ...ordinaryUser(),
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  await untilUp(child);
  return {
    urlOf(url) {
      const through = new URL(url);
      through.port = String(listenPort);
      return through.href;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** It refuses to run as root. */
function ordinaryUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function untilUp(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-8192);
      if (log.includes('process up')) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`PgBouncer did not start:\n${log}`)));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
