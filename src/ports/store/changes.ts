import type { AuditRow } from './reads.ts';

/** Where a reader of the change feed stands: behind the entry with this instant and id. */
export interface ChangeCursor {
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly id: string;
}

export interface ChangesQuery {
  readonly tenantId: string;
  /** null: from the beginning. */
  readonly after: ChangeCursor | null;
  readonly limit: number;
}

/** The audit rows of a tenant as a feed (http-api.md 22). */
export interface ChangeStore {
  /**
   * Entries behind the cursor, in the order of (created_at, id). No entry ever appears at or before the place of one that
   * was answered earlier: entries are held back until no open transaction can still write an older one (RULINGS A34). So
   * the entries of the present millisecond are not among them.
   */
  listChanges(query: ChangesQuery): Promise<readonly AuditRow[]>;
}
