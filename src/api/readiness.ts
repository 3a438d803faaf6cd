import type { ApiDeps } from './api-deps.ts';

/** How long what was found holds: anybody may ask, and must not cost the database a statement each time. */
const READY_MS = 5_000;
const NOT_READY_MS = 1_000;

type Reason = 'database_unreachable' | 'migrations_pending' | 'draining' | null;

/**
 * Why the process should get no traffic on account of what the database says; null: it should. What was found holds for 5 s,
 * for 1 s when it was bad. Who asks while it is looked up anew is told what was found before. Nothing that is under way is
 * kept, so that requests may share it where IO belongs to a request.
 */
export function createReadiness({
  store,
  clock,
  service,
  log,
}: Pick<ApiDeps, 'store' | 'clock' | 'service' | 'log'>): () => Promise<Reason> {
  let found: { readonly reason: Reason } | null = null;
  let holdsUntilMs = 0;
  return async () => {
    if (found !== null && clock.monotonicMs() < holdsUntilMs) return found.reason;
    holdsUntilMs = clock.monotonicMs() + READY_MS;
    const reason = await databaseReason({ store, service, log });
    found = { reason };
    holdsUntilMs = clock.monotonicMs() + (reason === null ? READY_MS : NOT_READY_MS);
    return reason;
  };
}

async function databaseReason({
  store,
  service,
  log,
}: Pick<ApiDeps, 'store' | 'service' | 'log'>): Promise<Reason> {
  try {
    const { schemaVersion } = await store.ping();
    if (schemaVersion < service.schemaVersion) return 'migrations_pending';
    return (await service.isDrained?.()) === true ? 'draining' : null;
  } catch (error) {
    // Anybody may ask, so only the log says why.
    log.warn('the database does not fit or does not answer', { error: String(error) });
    return 'database_unreachable';
  }
}
