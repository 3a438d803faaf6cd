import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Clock } from '../../ports/system.ts';
import { type LockPlace, lockFolder } from './folder-lock.ts';

/** The folder of an embedded database, held by this process alone. */
export interface DataFolder {
  /** Real path. */
  readonly path: string;
  /** Where the database itself lies, a folder of its own so that others can lie beside it. */
  readonly databasePath: string;
  readonly release: () => Promise<void>;
}

/**
 * Makes the folder when it is missing and locks it. The error names the holder and says what to do. The leases of the process that held the folder before are dead: its caller voids them (RULINGS B18).
 */
export async function openDataFolder(
  folder: string,
  clock: Clock,
  place?: LockPlace,
): Promise<Result<DataFolder, Advice>> {
  const made = makeFolder(folder);
  if (!made.ok) return made;
  const path = realpathSync(folder);
  const lock = await lockFolder(path, clock, place);
  if (lock.status === 'held') return err(heldAdvice(path, lock.pid));
  return ok({ path, databasePath: join(path, 'database'), release: lock.release });
}

function makeFolder(folder: string): Result<null, Advice> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const ignore = join(folder, '.gitignore');
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
    return ok(null);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return err({
      message: `the data folder ${folder} cannot be used: ${reason}`,
      next: 'Choose another one with --data <folder>.',
    });
  }
}

function heldAdvice(path: string, pid: number | null): Advice {
  const holder = pid === null ? 'another process' : `another process (pid ${pid})`;
  const stop = pid === null ? 'Stop that process' : `Stop it (kill ${pid})`;
  return {
    message: `the data folder ${path} is in use by ${holder}`,
    next:
      `${stop}, or start this one with --data <another folder>.\n` +
      'Several processes can share a PostgreSQL database: set STEPWELL_DATABASE_URL.',
  };
}
