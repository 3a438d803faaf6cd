import { isKnownZone } from '../core/calendar/zone.ts';
import { parseCron } from '../core/cron/expression.ts';
import { nextOccurrence, previewOccurrences, type WallOccurrence } from '../core/cron/occurrences.ts';
import { ok, type Result } from '../core/result.ts';
import type { NewSchedule, ScheduleRecord, ScheduleUpdate } from '../ports/store/schedules.ts';
import { notFound, refuse, type Refusal, type Refused } from './refusal.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** A schedule as it is asked for (http-api.md 11). */
export type ScheduleInput = Omit<NewSchedule, 'id' | 'nextFireAt'>;
/** What may change later; absent members stay. */
export type ScheduleChange = Omit<ScheduleUpdate, 'rev' | 'nextFireAt'>;

/** Updates that come in between, each by somebody else. */
const TRIES_MAX = 5;

/**
 * Creates a schedule: tenant (403), expression and zone (400, naming the field), sequence (404, of another tenant 403).
 * Its next occurrence is counted from now by the clock of the database.
 */
export async function createSchedule(
  deps: UseCaseDeps,
  caller: Caller,
  input: ScheduleInput,
): Promise<Result<{ readonly id: string; readonly nextFireAt: number | null }, Refusal>> {
  const tenantId = tenantOf(caller, input.tenantId);
  if (!tenantId.ok) return tenantId;
  if (input.namespace.trim() === '') return refuse('invalid_argument', 'namespace must not be empty');
  const broken = brokenRule(input);
  if (broken !== null) return broken;
  const sequence = await deps.store.getSequence(null, input.sequenceId);
  if (sequence === null) return notFound('sequence', input.sequenceId);
  if (sequence.tenantId !== tenantId.value)
    return refuse('forbidden', 'the sequence belongs to another tenant');
  const { now } = await deps.store.ping();
  const nextFireAt = nextFireOf(input, now);
  const schedule = { ...input, tenantId: tenantId.value, id: deps.ids.newId(), nextFireAt };
  if ((await deps.store.insertSchedule(schedule)) === 'no_sequence')
    return notFound('sequence', input.sequenceId);
  expect(deps, nextFireAt, now);
  return ok({ id: schedule.id, nextFireAt });
}

/** Changes a schedule; its next occurrence is counted anew from now, so a pause leaves nothing to catch up with. */
export async function updateSchedule(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
  change: ScheduleChange,
): Promise<Result<ScheduleRecord, Refusal>> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const present = await deps.store.getSchedule(caller.tenantId, id);
    if (present === null) return notFound('schedule', id);
    const wanted = { ...present, ...change };
    const broken = brokenRule(wanted);
    if (broken !== null) return broken;
    const { now } = await deps.store.ping();
    const nextFireAt = nextFireOf(wanted, now);
    const update = { ...change, rev: present.rev, nextFireAt };
    const updated = await deps.store.updateSchedule(caller.tenantId, id, update);
    if (updated === 'not_found') return notFound('schedule', id);
    if (updated === 'stale') continue;
    expect(deps, nextFireAt, now);
    return ok(updated);
  }
  return refuse('conflict', `schedule ${id} is being changed by others, try again`);
}

export interface FirePreview {
  readonly timezone: string;
  readonly fires: readonly WallOccurrence[];
}

export interface PreviewPage {
  /** The preview begins after this instant; null: now, by the clock of the database. */
  readonly from: number | null;
  readonly count: number;
}

/** The next occurrences of a schedule, also of one that is switched off ([CRON-6]). 404 unknown. */
export async function previewFires(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
  page: PreviewPage,
): Promise<Result<FirePreview, Refusal>> {
  const schedule = await deps.store.getSchedule(caller.tenantId, id);
  return schedule === null ? notFound('schedule', id) : previewExpression(deps, schedule, page);
}

/** The same for an expression that is not stored (dashboard.md A10); 400 for a bad expression or an unknown zone. */
export async function previewExpression(
  { store }: Pick<UseCaseDeps, 'store'>,
  schedule: Pick<NewSchedule, 'cronExpr' | 'timezone'>,
  { from, count }: PreviewPage,
): Promise<Result<FirePreview, Refusal>> {
  const broken = brokenRule(schedule);
  if (broken !== null) return broken;
  const cron = parseCron(schedule.cronExpr);
  const after = from ?? (await store.ping()).now;
  const fires = cron.ok ? previewOccurrences(cron.value, schedule.timezone, after, count) : [];
  return ok({ timezone: schedule.timezone, fires });
}

function brokenRule({ cronExpr, timezone }: Pick<NewSchedule, 'cronExpr' | 'timezone'>): Refused | null {
  const cron = parseCron(cronExpr);
  if (!cron.ok) {
    const { field, message } = cron.error;
    const extras = { code: 'invalid_cron_expression', details: { field } };
    return refuse('invalid_argument', `cron_expr: ${message}`, extras);
  }
  if (isKnownZone(timezone)) return null;
  return refuse('invalid_argument', `timezone '${timezone}' is not a known IANA time zone`, {
    code: 'unknown_timezone',
  });
}

function nextFireOf(
  { enabled, cronExpr, timezone }: Pick<NewSchedule, 'enabled' | 'cronExpr' | 'timezone'>,
  now: number,
): number | null {
  const cron = parseCron(cronExpr);
  return enabled && cron.ok ? nextOccurrence(cron.value, timezone, now) : null;
}

/** A process that lives on sets its alarm; everybody else finds the schedule by sweep. */
function expect(deps: UseCaseDeps, nextFireAt: number | null, now: number): void {
  if (nextFireAt !== null) deps.hints.expectSchedule?.(Math.max(0, nextFireAt - now));
}
