import type { Json } from '../../core/json.ts';
import type { Page } from './page.ts';
import type { InstanceView } from './reads.ts';

/** Data that several instances of a tenant share (http-api.md 14). */
export interface SessionStore {
  /** A key names one session of its tenant. */
  insertSession(session: NewSession): Promise<'created' | 'exists'>;
  getSession(tenantId: string | null, id: string): Promise<SessionRecord | null>;
  findSession(tenantId: string, sessionKey: string): Promise<SessionRecord | null>;
  /** Replaces the data; false when there is no such session. */
  setSessionData(tenantId: string | null, id: string, data: Json): Promise<boolean>;
  setSessionState(tenantId: string | null, id: string, state: SessionState): Promise<boolean>;
  /** Oldest first. null: no such session. */
  listSessionInstances(
    tenantId: string | null,
    id: string,
    page: Page,
  ): Promise<readonly InstanceView[] | null>;
}

export const SESSION_STATES = ['active', 'paused', 'completed', 'expired'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export interface NewSession {
  readonly id: string;
  readonly tenantId: string;
  readonly sessionKey: string;
  readonly data: Json;
  /** From then on the sweep sets an active or paused session to `expired`. */
  readonly expiresAt: number | null;
}

export interface SessionRecord extends NewSession {
  readonly state: SessionState;
  readonly createdAt: number;
  readonly updatedAt: number;
}
