import type { HistoryRow } from '../../core/run/fold/history-row.ts';
import type { ForkAnswer, ForkRequest, History, HistoryStore } from '../../ports/store/history.ts';
import { NO_SEQUENCE, encodeInstance } from './accept.ts';
import { callOr, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { FRONTIER_OF } from './reads-instances.ts';
import { type FrontierAnswer, answerOf, readFrontier, storeFrame } from './rows.ts';
import { encodeFrame, encodeRow } from './turn-payload.ts';

const FORK = 'SELECT stepwell.fork_v1($1::jsonb)';

const HISTORY = `
SELECT json_build_object('frontier', ${FRONTIER_OF}, 'rows', stepwell.history_json(i.tenant_id, i.id))
FROM stepwell.task_instances i WHERE ($1::text IS NULL OR i.tenant_id = $1) AND i.id = $2`;

/** A row as history_json writes it. */
type RowAnswer = readonly [
  id: string,
  blockId: string,
  iteration: string,
  kind: HistoryRow['kind'],
  attempt: number,
  startedAt: number | null,
  runNo: number,
  rev: number,
  ordinal: number,
  createdAt: number,
  supersededBy: number | null,
  output: HistoryRow['output'],
];

interface HistoryAnswer {
  readonly frontier: FrontierAnswer;
  readonly rows: readonly RowAnswer[];
}

export function createHistoryStore(driver: SqlDriver): HistoryStore {
  return {
    async getHistory(tenantId, id): Promise<History | null> {
      if (!isUuid(id)) return null;
      const rows = await tenantCall(driver, tenantId, HISTORY, [tenantId, id]);
      const answer = answerOf<HistoryAnswer | undefined>(rows);
      return answer === undefined
        ? null
        : { ...readFrontier(answer.frontier), rows: answer.rows.map(readRow) };
    },
    // The query builder is loaded with the first timeline (see store.ts).
    async listTimeline(tenantId, id, page) {
      const { listTimeline } = await import('./timeline.ts');
      return listTimeline(driver, tenantId, id, page);
    },
    fork: (request) =>
      callOr<ForkAnswer>(
        async () => answerOf(await driver.query(FORK, [JSON.stringify(forkPayload(request))])),
        { [NO_SEQUENCE]: () => 'not_found' },
      ),
  };
}

/** Members that say nothing are left out, as in a commit. */
function forkPayload(request: ForkRequest): object {
  const { source, instance, runNo, copied, rows, frames, stateAtRev, signals, journal } = request;
  const root = frames.find(({ blockId }) => blockId === '');
  const others = frames.filter((frame) => frame !== root);
  return {
    source: source.instanceId,
    instance: encodeInstance(instance),
    runNo,
    copied: copied.map(({ blockId, rev, ordinal, copyId }) => [blockId, rev, ordinal, copyId]),
    rows: rows.map((row, index) => encodeRow(row, 0, copied.length + index)),
    frames: others.map((frame) => encodeFrame(frame, 0)),
    signals,
    journal: journal.map((entry) => ({ i: 0, ...entry })),
    ...(root === undefined ? {} : { root: storeFrame(root) }),
    ...(copied.length + rows.length === 0 ? {} : { history: true }),
    ...(stateAtRev === null ? {} : { stateAtRev }),
  };
}

function readRow(row: RowAnswer): HistoryRow {
  const [
    id,
    blockId,
    iteration,
    kind,
    attempt,
    startedAt,
    runNo,
    rev,
    ordinal,
    createdAt,
    supersededBy,
    output,
  ] = row;
  const place = { runNo, rev, ordinal, createdAt, supersededBy };
  return { id, blockId, iteration, kind, attempt, startedAt, ...place, output };
}
