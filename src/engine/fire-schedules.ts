import { formatInstant } from '../core/expressions/civil-time.ts';
import { mergeObjects } from '../core/json.ts';
import { parseCron } from '../core/cron/expression.ts';
import { latestOccurrence, nextOccurrence } from '../core/cron/occurrences.ts';
import type { NewInstance } from '../ports/store/accept.ts';
import type { SequenceRecord } from '../ports/store/catalog.ts';
import type { ScheduleFired, ScheduleRecord } from '../ports/store/schedules.ts';
import { StoreUnavailable } from '../ports/store/store.ts';
import { checkStartable, newInstance } from './start-instances.ts';
import type { StartInput } from './start-target.ts';
import type { TurnDeps } from './turn-deps.ts';
import { RESERVE_MS } from './turn-budget.ts';

/** Schedules that are read together, and how many of them are fired at the same time. */
const BATCH = 100;
const LANES = 8;
/** How often the end of the instance before is looked for while a fire is held back ([CRON-5]). */
const RECHECK_MS = 5_000;

type FireDeps = Pick<TurnDeps, 'store' | 'ids' | 'hints' | 'log' | 'limits' | 'counters'>;

export interface FiredSchedules {
  /** False when some could not be fired; they are due as before. */
  readonly allFired: boolean;
}

/**
 * Fires every schedule that is due ([CRON-3] to [CRON-6]), as long as the host leaves time. What was missed collapses into
 * the latest occurrence; the next one is computed from now. One that fails does not stop the others.
 */
export async function fireDueSchedules(deps: FireDeps): Promise<FiredSchedules> {
  const sequences = new Map<string, Promise<SequenceRecord | null>>();
  const { remainingTimeMs } = deps.limits;
  for (;;) {
    const { now, schedules } = await deps.store.dueSchedules(BATCH);
    const queue = schedules.values();
    let failed = 0;
    const work = async (): Promise<void> => {
      // The lanes share one iterator: each takes the next schedule when it is free.
      for (const schedule of queue) {
        if (!(await fireSafely(deps, schedule, now, sequences))) failed += 1;
      }
    };
    await Promise.all(Array.from({ length: Math.min(LANES, schedules.length) }, work));
    if (failed > 0) return { allFired: false };
    const mayGoOn = remainingTimeMs === null || remainingTimeMs() > RESERVE_MS;
    if (schedules.length < BATCH || !mayGoOn) return { allFired: true };
  }
}

async function fireSafely(
  deps: FireDeps,
  schedule: ScheduleRecord,
  now: number,
  sequences: Map<string, Promise<SequenceRecord | null>>,
): Promise<boolean> {
  try {
    await fireOne(deps, schedule, now, sequences);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    deps.log.error('a schedule could not be fired', { schedule_id: schedule.id, error: message });
    if (error instanceof StoreUnavailable) throw error;
    return false;
  }
}

/** The fire that was held back comes first, then the occurrence that is due. */
async function fireOne(
  deps: FireDeps,
  schedule: ScheduleRecord,
  now: number,
  sequences: Map<string, Promise<SequenceRecord | null>>,
): Promise<void> {
  const { bufferedAt, recheckAt, nextFireAt } = schedule;
  const known = sequences.get(schedule.sequenceId);
  const reading = known ?? deps.store.getSequence(schedule.tenantId, schedule.sequenceId);
  sequences.set(schedule.sequenceId, reading);
  const sequence = await reading;
  let { rev } = schedule;
  const fire = (
    from: 'next' | 'buffer',
    occurrenceAt: number,
    following: number | null,
  ): Promise<ScheduleFired> =>
    deps.store.fireSchedule({
      tenantId: schedule.tenantId,
      scheduleId: schedule.id,
      sequenceId: schedule.sequenceId,
      rev,
      from,
      occurrenceAt,
      nextFireAt: following,
      instance: instanceOf(deps, schedule, sequence, occurrenceAt),
      recheckMs: RECHECK_MS,
    });
  if (bufferedAt !== null && recheckAt !== null && recheckAt <= now) {
    const fired = await fire('buffer', bufferedAt, null);
    if (fired.status === 'stale') return;
    rev += 1;
    announce(deps, schedule, fired);
  }
  if (nextFireAt === null || nextFireAt > now) return;
  const cron = parseCron(schedule.cronExpr);
  const occurrenceAt = cron.ok
    ? latestOccurrence(cron.value, schedule.timezone, nextFireAt, now)
    : nextFireAt;
  const following = cron.ok ? nextOccurrence(cron.value, schedule.timezone, now) : null;
  announce(deps, schedule, await fire('next', occurrenceAt, following));
}

/** null when the sequence cannot be started now, which the log says: the schedule moves on. */
function instanceOf(
  deps: FireDeps,
  schedule: ScheduleRecord,
  sequence: SequenceRecord | null,
  occurrenceAt: number,
): NewInstance | null {
  if (sequence === null) return null;
  const input = startInputOf(schedule, occurrenceAt);
  const refusal = checkStartable(sequence, input);
  if (refusal === null) return newInstance(deps, input);
  deps.log.warn('a schedule could not start its sequence', {
    schedule_id: schedule.id,
    sequence_id: schedule.sequenceId,
    code: refusal.code ?? refusal.kind,
  });
  return null;
}

function startInputOf(schedule: ScheduleRecord, occurrenceAt: number): StartInput {
  return {
    sequenceId: schedule.sequenceId,
    tenantId: schedule.tenantId,
    namespace: schedule.namespace,
    priority: 1,
    timezone: 'UTC',
    metadata: mergeObjects(schedule.metadata, { cron_schedule_id: schedule.id }),
    context: { data: {}, config: {}, audit: [] },
    dryRun: false,
    dryRunAutoApprove: false,
    nextFireAt: null,
    concurrencyKey: null,
    maxConcurrency: null,
    idempotencyKey: `cron:${schedule.id}:${formatInstant(occurrenceAt)}`,
    sessionId: null,
    budget: null,
  };
}

function announce(deps: FireDeps, { tenantId }: ScheduleRecord, fired: ScheduleFired): void {
  if (fired.status === 'skipped') deps.counters.add('orch8_cron_skipped_total');
  if (fired.status !== 'started') return;
  deps.counters.add('orch8_cron_triggered_total');
  const instances = [fired.instanceId, ...fired.cancelled];
  deps.hints.send(instances.map((instanceId) => ({ tenantId, instanceId, delayMs: 0 })));
}
