import { INSTANCE_STATES, type InstanceState } from '../../core/run/states.ts';
import type {
  InstanceListFilter,
  InstanceListStore,
  ListInstancesQuery,
  StateCounts,
} from '../../ports/store/instance-lists.ts';
import type { InstanceView } from '../../ports/store/reads.ts';
import { answersOf } from './answer-rows.ts';
import { isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { encodeMetadata } from './encode-metadata.ts';
import type { ResolvedFilter } from './instance-list-conditions.ts';
import { countStatement, listStatement, pageStatement } from './instance-list-sql.ts';
import { idsWithMetadata } from './ids-with-metadata.ts';
import { answerOf } from './rows.ts';

const IDS_OF_NAME = `
SELECT coalesce(json_agg(s.id), '[]') FROM (
  SELECT id FROM stepwell.sequences
  WHERE ($1::text IS NULL OR tenant_id = $1) AND name = $2 ORDER BY version DESC LIMIT $3
) s`;

const OWNER_OF_SEQUENCE = 'SELECT tenant_id FROM stepwell.sequences WHERE id = $1';

/** Short ranges of an index each: nearly all instances of most versions have ended. */
const LIVE_RUNS = `
SELECT coalesce(json_agg((
  SELECT count(*) FROM (
    SELECT 1 FROM stepwell.task_instances i
    WHERE i.sequence_id = q.id::uuid AND i.state IN ('scheduled', 'running', 'waiting', 'paused') LIMIT $2
  ) live) ORDER BY q.n), '[]')
FROM jsonb_array_elements_text($1::jsonb) WITH ORDINALITY AS q(id, n)`;

/** More versions of one name than this are not looked at. */
const VERSIONS_MAX = 10_000;

export function createInstanceListStore(driver: SqlDriver): InstanceListStore {
  return {
    async listInstances(query: ListInstancesQuery) {
      const resolved = await resolve(driver, query);
      if (resolved === null) return [];
      const { text, params } = listStatement(resolved, query);
      const rows = await tenantCall(driver, query.tenantId, text, params);
      return answersOf<InstanceView>(rows);
    },
    async pageInstances(query, maxBytes) {
      const resolved = await resolve(driver, query);
      if (resolved === null) return { items: [], hasMore: false };
      const { text, params } = pageStatement(resolved, query, maxBytes);
      const rows = await tenantCall(driver, query.tenantId, text, params);
      const items = answersOf<InstanceView>(rows.map(([, view]) => [view]));
      return { items, hasMore: answerOf<number>(rows) > items.length };
    },
    async countInstances(filter, countedTo) {
      const resolved = await resolve(driver, filter);
      if (resolved === null) return countsOf([]);
      const { text, params } = countStatement(resolved, countedTo);
      const rows = await tenantCall(driver, filter.tenantId, text, params);
      return countsOf(answerOf<[InstanceState, number][]>(rows));
    },
    async countLiveRuns(sequenceIds, countedTo) {
      const params = [JSON.stringify(sequenceIds), countedTo];
      return answerOf<number[]>(await tenantCall(driver, null, LIVE_RUNS, params));
    },
  };
}

function countsOf(counted: readonly (readonly [InstanceState, number])[]): StateCounts {
  const none: StateCounts = {
    scheduled: 0,
    running: 0,
    waiting: 0,
    paused: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
  };
  return { ...none, ...Object.fromEntries(counted) };
}

/**
 * Looks names and metadata up first, so that the planner sees ids. null: nothing can fit.
 */
async function resolve(driver: SqlDriver, filter: InstanceListFilter): Promise<ResolvedFilter | null> {
  const { tenantId, sequenceId, sequenceName = null } = filter;
  if (sequenceId !== null && !(await mayHave(driver, tenantId, sequenceId))) return null;
  const metadata = encodeMetadata(filter.metadata);
  if (metadata === undefined) return null;
  const states = INSTANCE_STATES.filter(
    (state) => filter.states.length === 0 || filter.states.includes(state),
  );
  let sequenceIds = sequenceId === null ? null : [sequenceId.toLowerCase()];
  if (sequenceName !== null) {
    const params = [tenantId, sequenceName, VERSIONS_MAX];
    const named = answerOf<string[]>(await tenantCall(driver, tenantId, IDS_OF_NAME, params));
    sequenceIds = sequenceIds === null ? named : named.filter((id) => sequenceIds?.includes(id));
  }
  if (sequenceIds?.length === 0) return null;
  const ids = metadata === null ? null : await idsWithMetadata(driver, tenantId, metadata);
  return ids?.length === 0 ? null : { filter, states, sequenceIds, metadata, ids };
}

/** The index of a sequence knows no tenants: those of another one would all be looked at, to show none. */
async function mayHave(driver: SqlDriver, tenantId: string | null, sequenceId: string): Promise<boolean> {
  if (!isUuid(sequenceId)) return false;
  if (tenantId === null) return true;
  const owner = answerOf<string | undefined>(await tenantCall(driver, null, OWNER_OF_SEQUENCE, [sequenceId]));
  return owner === undefined || owner === tenantId;
}
