import { compareCodePoints, member } from '../../core/json.ts';
import { isTerminal } from '../../core/run/states.ts';
import type {
  NewSchedule,
  ScheduleFire,
  ScheduleFired,
  ScheduleRecord,
  ScheduleStore,
  ScheduleUpdate,
} from '../../ports/store/schedules.ts';
import type { Database, Run, Tx } from './database.ts';
import { type InstanceRow, stored } from './rows.ts';
import { start } from './start.ts';
import { acceptSignal } from './wake.ts';

export function schedulePart(run: Run): ScheduleStore {
  return {
    insertSchedule: (schedule) => run((tx) => insert(tx, schedule)),
    getSchedule: (tenantId, id) => run(({ db }) => find(db, tenantId, id)),
    listSchedules: ({ tenantId, limit, offset }) =>
      run(({ db }) =>
        db.schedules
          .values()
          .filter((row) => tenantId === null || row.tenantId === tenantId)
          .sort((a, b) => a.createdAt - b.createdAt || compareCodePoints(a.id, b.id))
          .slice(offset, offset + limit),
      ),
    updateSchedule: (tenantId, id, change) => run((tx) => update(tx, tenantId, id, change)),
    deleteSchedule: (tenantId, id) => run((tx) => remove(tx, tenantId, id)),
    dueSchedules: (limit) => run((tx) => ({ now: tx.t, schedules: due(tx, limit) })),
    fireSchedule: (fire) => run((tx) => fireOne(tx, fire)),
  };
}

function find(db: Database, tenantId: string | null, id: string): ScheduleRecord | null {
  const row = db.schedules.get(id);
  return row !== undefined && (tenantId === null || row.tenantId === tenantId) ? row : null;
}

function insert(tx: Tx, schedule: NewSchedule): 'created' | 'no_sequence' {
  if (tx.db.sequences.get(schedule.sequenceId)?.tenantId !== schedule.tenantId) return 'no_sequence';
  if (tx.db.schedules.has(schedule.id)) return 'created';
  save(tx, {
    ...schedule,
    skippedFires: 0,
    lastSkippedAt: null,
    lastTriggeredAt: null,
    bufferedAt: null,
    recheckAt: null,
    rev: 0,
    createdAt: tx.t,
    updatedAt: tx.t,
  });
  return 'created';
}

function save(tx: Tx, row: ScheduleRecord): ScheduleRecord {
  const saved = stored(row);
  tx.db.schedules.put(row.id, saved);
  return saved;
}

function update(
  tx: Tx,
  tenantId: string | null,
  id: string,
  { rev, ...change }: ScheduleUpdate,
): ScheduleRecord | 'not_found' | 'stale' {
  const row = find(tx.db, tenantId, id);
  if (row === null) return 'not_found';
  if (row.rev !== rev) return 'stale';
  const next = { ...row, ...change, rev: rev + 1, updatedAt: tx.t };
  return save(tx, next.enabled ? next : { ...next, bufferedAt: null, recheckAt: null });
}

function remove(tx: Tx, tenantId: string | null, id: string): boolean {
  if (find(tx.db, tenantId, id) === null) return false;
  tx.db.schedules.remove(id);
  return true;
}

/** When a schedule has to be looked at next; null for never. */
export function wakeOf({ nextFireAt, recheckAt }: ScheduleRecord): number | null {
  if (nextFireAt === null || recheckAt === null) return nextFireAt ?? recheckAt;
  return Math.min(nextFireAt, recheckAt);
}

function due(tx: Tx, limit: number): readonly ScheduleRecord[] {
  return tx.db.schedules
    .values()
    .flatMap((row) => {
      const wakeAt = wakeOf(row);
      return wakeAt === null || wakeAt > tx.t ? [] : [{ row, wakeAt }];
    })
    .sort((a, b) => a.wakeAt - b.wakeAt)
    .slice(0, limit)
    .map(({ row }) => row);
}

function fireOne(tx: Tx, fire: ScheduleFire): ScheduleFired {
  const row = find(tx.db, fire.tenantId, fire.scheduleId);
  if (row === null || row.rev !== fire.rev || !row.enabled) return { status: 'stale' };
  if (!tx.db.sequences.has(fire.sequenceId)) return { status: 'stale' };
  const live = row.overlapPolicy === 'allow' ? [] : liveOf(tx, row);
  const status = outcomeOf(row, fire, live.length > 0);
  save(tx, moved(tx, row, fire, status));
  if (status !== 'started' || fire.instance === null)
    return { status: status === 'started' ? 'moved_on' : status };
  const uncancelled = live.filter(({ cancelSeq }) => cancelSeq === null);
  for (const instance of uncancelled) {
    acceptSignal(tx, instance, { id: tx.newId(), signalType: 'cancel', payload: null });
  }
  const answer = start(tx, { instances: [fire.instance], onKnownKey: 'first' });
  const first = answer.status === 'ok' ? answer.started[0]?.id : undefined;
  return {
    status,
    instanceId: first ?? fire.instance.id,
    cancelled: uncancelled.map(({ id }) => id),
  };
}

function liveOf(tx: Tx, schedule: ScheduleRecord): readonly InstanceRow[] {
  return tx.db.instances
    .values()
    .filter((row) => row.tenantId === schedule.tenantId && !isTerminal(row.state))
    .filter((row) => member(row.metadata, 'cron_schedule_id') === schedule.id)
    .sort((a, b) => compareCodePoints(a.id, b.id));
}

function outcomeOf(row: ScheduleRecord, fire: ScheduleFire, overlaps: boolean): ScheduleFired['status'] {
  if (fire.instance === null) return 'moved_on';
  if (!overlaps || row.overlapPolicy === 'cancel_previous') return 'started';
  if (row.overlapPolicy !== 'buffer_one') return 'skipped';
  if (fire.from === 'buffer') return 'held';
  return row.bufferedAt === null ? 'buffered' : 'skipped';
}

function moved(
  tx: Tx,
  row: ScheduleRecord,
  fire: ScheduleFire,
  status: ScheduleFired['status'],
): ScheduleRecord {
  const skipped = status === 'skipped';
  return {
    ...row,
    nextFireAt: fire.from === 'buffer' ? row.nextFireAt : fire.nextFireAt,
    ...bufferAfter(tx, row, fire, status),
    lastTriggeredAt: status === 'started' ? tx.t : row.lastTriggeredAt,
    skippedFires: row.skippedFires + (skipped ? 1 : 0),
    lastSkippedAt: skipped ? tx.t : row.lastSkippedAt,
    rev: row.rev + 1,
    updatedAt: status === 'held' ? row.updatedAt : tx.t,
  };
}

function bufferAfter(
  tx: Tx,
  row: ScheduleRecord,
  fire: ScheduleFire,
  status: ScheduleFired['status'],
): Pick<ScheduleRecord, 'bufferedAt' | 'recheckAt'> {
  const recheckAt = tx.t + fire.recheckMs;
  if (status === 'buffered') return { bufferedAt: fire.occurrenceAt, recheckAt };
  if (status === 'held') return { bufferedAt: row.bufferedAt, recheckAt };
  if (fire.from === 'buffer') return { bufferedAt: null, recheckAt: null };
  return { bufferedAt: row.bufferedAt, recheckAt: row.recheckAt };
}
