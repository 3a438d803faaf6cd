import { compareCodePoints } from '../../core/json.ts';
import type { NewSession, SessionRecord, SessionStore } from '../../ports/store/sessions.ts';
import type { Database, Run, Tx } from './database.ts';
import { pageOf } from './page-of.ts';
import { stored, viewOf } from './rows.ts';

export function sessionPart(run: Run): SessionStore {
  return {
    insertSession: (session) => run((tx) => insert(tx, session)),
    getSession: (tenantId, id) => run(({ db }) => find(db, tenantId, id)),
    findSession: (tenantId, sessionKey) => run(({ db }) => byKey(db, tenantId, sessionKey) ?? null),
    setSessionData: (tenantId, id, data) => run((tx) => change(tx, tenantId, id, { data })),
    setSessionState: (tenantId, id, state) => run((tx) => change(tx, tenantId, id, { state })),
    listSessionInstances: (tenantId, id, page) =>
      run(({ db }) => {
        const session = find(db, tenantId, id);
        if (session === null) return null;
        const found = db.instances
          .values()
          .filter((row) => row.sessionId === id && row.tenantId === session.tenantId)
          .sort((a, b) => a.createdAt - b.createdAt || compareCodePoints(a.id, b.id));
        return pageOf(found, page).map(viewOf);
      }),
  };
}

function find(db: Database, tenantId: string | null, id: string): SessionRecord | null {
  const row = db.sessions.get(id);
  return row !== undefined && (tenantId === null || row.tenantId === tenantId) ? row : null;
}

function byKey(db: Database, tenantId: string, sessionKey: string): SessionRecord | undefined {
  return db.sessions.values().find((row) => row.tenantId === tenantId && row.sessionKey === sessionKey);
}

/** The same request again after a lost answer is no conflict (RULINGS A36). */
function insert(tx: Tx, session: NewSession): 'created' | 'exists' {
  const known = tx.db.sessions.get(session.id) ?? byKey(tx.db, session.tenantId, session.sessionKey);
  if (known !== undefined) return known.id === session.id ? 'created' : 'exists';
  tx.db.sessions.put(session.id, stored({ ...session, state: 'active', createdAt: tx.t, updatedAt: tx.t }));
  return 'created';
}

function change(
  tx: Tx,
  tenantId: string | null,
  id: string,
  members: Partial<Pick<SessionRecord, 'data' | 'state'>>,
): boolean {
  const row = find(tx.db, tenantId, id);
  if (row === null) return false;
  tx.db.sessions.put(id, stored({ ...row, ...members, updatedAt: tx.t }));
  return true;
}

/** Sessions whose time is over; answers how many. */
export function expireSessions(tx: Tx, limit: number): number {
  const over = expiredSessions(tx).slice(0, limit);
  for (const row of over) {
    tx.db.sessions.put(row.id, stored({ ...row, state: 'expired', updatedAt: tx.t }));
  }
  return over.length;
}

/** Sessions whose time is over and that do not say so yet. */
export function expiredSessions(tx: Tx): readonly SessionRecord[] {
  return tx.db.sessions
    .values()
    .filter(({ expiresAt, state }) => expiresAt !== null && expiresAt <= tx.t && isOpen(state));
}

function isOpen(state: SessionRecord['state']): boolean {
  return state === 'active' || state === 'paused';
}
