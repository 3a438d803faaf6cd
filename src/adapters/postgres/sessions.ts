import type { InstanceView } from '../../ports/store/reads.ts';
import type { SessionRecord, SessionStore } from '../../ports/store/sessions.ts';
import { answersBehind } from './answer-rows.ts';
import { call, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const INSERT = 'SELECT stepwell.insert_session_v1($1::jsonb)';
const UPDATE = 'SELECT stepwell.update_session_v1($1, $2, $3::jsonb, $4)';
const OF_TENANT = '($1::text IS NULL OR s.tenant_id = $1)';
const GET = `SELECT stepwell.session_json(s) FROM stepwell.sessions s WHERE ${OF_TENANT} AND s.id = $2`;
const FIND =
  'SELECT stepwell.session_json(s) FROM stepwell.sessions s WHERE s.tenant_id = $1 AND s.session_key = $2';
/** One row of null where a session has no instances: it is known all the same. */
const LIST_INSTANCES = `
SELECT (SELECT stepwell.instance_view(i) FROM stepwell.task_instances i WHERE i.id = sorted.id)
FROM (
  SELECT l.id FROM stepwell.sessions s
  LEFT JOIN LATERAL (
    SELECT i.id, i.created_at FROM stepwell.task_instances i
    WHERE i.session_id = s.id::text AND i.tenant_id = s.tenant_id
    ORDER BY i.created_at, i.id LIMIT $3 OFFSET $4) l ON true
  WHERE ${OF_TENANT} AND s.id = $2
  ORDER BY l.created_at, l.id OFFSET 0
) sorted`;

export function createSessionStore(driver: SqlDriver): SessionStore {
  const update = async (
    tenantId: string | null,
    id: string,
    change: { readonly data: string | null; readonly state: string | null },
  ): Promise<boolean> =>
    isUuid(id) && answerOf<boolean>(await call(driver, UPDATE, [tenantId, id, change.data, change.state]));
  return {
    async insertSession(session) {
      return answerOf(await call(driver, INSERT, [JSON.stringify(session)]));
    },
    async getSession(tenantId, id) {
      if (!isUuid(id)) return null;
      return (
        answerOf<SessionRecord | undefined>(await tenantCall(driver, tenantId, GET, [tenantId, id])) ?? null
      );
    },
    async findSession(tenantId, sessionKey) {
      const rows = await tenantCall(driver, tenantId, FIND, [tenantId, sessionKey]);
      return answerOf<SessionRecord | undefined>(rows) ?? null;
    },
    setSessionData: (tenantId, id, data) => update(tenantId, id, { data: JSON.stringify(data), state: null }),
    setSessionState: (tenantId, id, state) => update(tenantId, id, { data: null, state }),
    async listSessionInstances(tenantId, id, { limit, offset }) {
      if (!isUuid(id)) return null;
      const rows = await tenantCall(driver, tenantId, LIST_INSTANCES, [tenantId, id, limit, offset]);
      return answersBehind<InstanceView>(rows);
    },
  };
}
