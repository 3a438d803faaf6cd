import { SCHEMA_VERSION } from '../adapters/postgres/migrate.ts';
import type { Store } from '../ports/store/store.ts';
import type { Clock } from '../ports/system.ts';

const LOOK_AGAIN_MS = 2000;

/**
 * Starts the engine's loop as soon as the database has the schema of this build; until then the process answers, but is
 * not ready (RULINGS B19). Returns after the first look; the result ends the waiting.
 */
export async function startWhenMigrated(
  store: Pick<Store, 'ping'>,
  loop: { readonly start: () => void },
  clock: Pick<Clock, 'after'>,
  onProgress: (text: string) => void,
): Promise<() => void> {
  let cancelled = false;
  let cancelTimer = (): void => {};
  let told = false;
  const look = async (): Promise<void> => {
    const problem = await schemaProblem(store);
    if (cancelled) return;
    if (problem === null) {
      loop.start();
      if (told) onProgress('Ready now.');
      return;
    }
    if (!told) onProgress(`Not ready: ${problem} Waiting.`);
    told = true;
    cancelTimer = clock.after(LOOK_AGAIN_MS, () => void look());
  };
  await look();
  return () => {
    cancelled = true;
    cancelTimer();
  };
}

async function schemaProblem(store: Pick<Store, 'ping'>): Promise<string | null> {
  try {
    const { schemaVersion } = await store.ping();
    if (schemaVersion >= SCHEMA_VERSION) return null;
    return 'the database lacks migrations; run `stepwell migrate`, or set STEPWELL_RUN_MIGRATIONS=true.';
  } catch (error) {
    return `the database does not answer (${error instanceof Error ? error.message : String(error)}).`;
  }
}
