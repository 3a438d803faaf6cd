import type { ChangeCursor } from '../../ports/store/changes.ts';
import type { AuditRow } from '../../ports/store/reads.ts';
import type { Store } from '../../ports/store/store.ts';
import type { Follower } from './activity.ts';

/** What other processes write is seen within this time. */
const POLL_MS = 500;
/** Entries of the present millisecond are held back, so a look right after a write comes a little later. */
const SETTLE_MS = 5;
const ENTRIES_AT_ONCE = 500;

/** The entries of a tenant behind the cursor, and those to come, without end (http-api.md 22). */
export async function* followChanges(
  store: Pick<Store, 'listChanges'>,
  follower: Follower,
  tenantId: string,
  from: ChangeCursor | null,
): AsyncGenerator<AuditRow> {
  let after = from;
  for (;;) {
    const entries = await store.listChanges({ tenantId, after, limit: ENTRIES_AT_ONCE });
    yield* entries;
    after = entries.at(-1) ?? after;
    if (entries.length === ENTRIES_AT_ONCE) continue;
    if (!(await follower.next(POLL_MS)) || !(await follower.next(SETTLE_MS))) return;
  }
}
