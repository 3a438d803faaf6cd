import { createHash } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../ports/system.ts';

/**
 * The lock of a data folder is a listening socket whose name is derived from the folder's real path (RULINGS B18). The
 * system takes it down with the process, however that ends, so `kill -9` leaves no lock behind. Two engines on one
 * embedded database would lose each other's rows without an error.
 *
 * - Linux: an abstract socket, which is no file at all.
 * - Windows: a named pipe, which ends with its process as well.
 * - Others: a socket file in the temporary folder; one that nobody answers is moved away first.
 */
export type LockPlace = 'abstract' | 'pipe' | 'file';

export type LockAnswer =
  | { readonly status: 'locked'; readonly release: () => Promise<void> }
  /** `pid` is null when the holder did not say in time, e.g. because it is stopped. */
  | { readonly status: 'held'; readonly pid: number | null };

const ANSWER_WITHIN_MS = 2000;
const TAKE_OVERS_MAX = 5;

function defaultLockPlace(): LockPlace {
  if (process.platform === 'linux') return 'abstract';
  return process.platform === 'win32' ? 'pipe' : 'file';
}

/** `realPath` must be free of symbolic links, or one folder would have two locks. */
export async function lockFolder(
  realPath: string,
  clock: Clock,
  place: LockPlace = defaultLockPlace(),
): Promise<LockAnswer> {
  const address = lockAddress(realPath, place);
  for (let tries = 0; tries < TAKE_OVERS_MAX; tries += 1) {
    const server = await listenOn(address);
    if (server !== null) return { status: 'locked', release: () => closeServer(server) };
    const holder = await askHolder(address, clock);
    if (holder.alive) return { status: 'held', pid: holder.pid };
    if (place === 'file' && (await moveDeadSocketAway(address, clock)) === 'alive') {
      return { status: 'held', pid: null };
    }
  }
  return { status: 'held', pid: null };
}

/** A socket's name may be about 100 bytes long, a folder's path much longer: hence the hash. */
function lockAddress(realPath: string, place: LockPlace): string {
  const name = `stepwell-${createHash('sha256').update(realPath).digest('hex').slice(0, 32)}`;
  switch (place) {
    case 'abstract':
      return `\0${name}`;
    case 'pipe':
      return `\\\\.\\pipe\\${name}`;
    case 'file':
      return join(tmpdir(), `${name}.sock`);
    default:
      return place satisfies never;
  }
}

/** Null when the name is taken. Whoever connects is told our process id. */
function listenOn(address: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(`${process.pid}\n`);
    });
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(address, () => {
      // The lock alone must not keep a process alive that has nothing else to do.
      server.unref();
      resolve(server);
    });
  });
}

type Holder = { readonly alive: false } | { readonly alive: true; readonly pid: number | null };

/** A connection proves the holder: the kernel makes it even while the holder is busy or stopped. */
function askHolder(address: string, clock: Clock): Promise<Holder> {
  return new Promise((resolve) => {
    let answer = '';
    let connected = false;
    const socket = connect(address);
    const finish = (holder: Holder): void => {
      cancelTimer();
      socket.destroy();
      resolve(holder);
    };
    const cancelTimer = clock.after(ANSWER_WITHIN_MS, () => finish({ alive: true, pid: null }));
    socket.setEncoding('utf8');
    socket.once('connect', () => {
      connected = true;
    });
    socket.on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.once('error', () => finish(connected ? { alive: true, pid: null } : { alive: false }));
    socket.once('close', () => finish({ alive: true, pid: pidOf(answer) }));
  });
}

function pidOf(answer: string): number | null {
  return /^[0-9]{1,10}\n$/.test(answer) ? Number(answer) : null;
}

/**
 * Renaming lets only one of several starters remove a dead socket. If a living one appeared at the name since we asked,
 * it is put back.
 */
async function moveDeadSocketAway(address: string, clock: Clock): Promise<'moved' | 'alive'> {
  const aside = `${address}.${process.pid}`;
  try {
    renameSync(address, aside);
  } catch {
    return 'moved';
  }
  if ((await askHolder(aside, clock)).alive) {
    renameSync(aside, address);
    return 'alive';
  }
  rmSync(aside, { force: true });
  return 'moved';
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
