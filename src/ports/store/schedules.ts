import type { JsonObject } from '../../core/json.ts';
import type { NewInstance } from './accept.ts';

/**
 * Cron schedules (sequences.md 22.1). When a schedule occurs is computed outside; the store keeps the next occurrence and
 * lets each be fired once: every change raises `rev`, and a change names the rev it was decided on.
 */
export interface ScheduleStore {
  /** `no_sequence`: the sequence is not there, or belongs to another tenant. */
  insertSchedule(schedule: NewSchedule): Promise<'created' | 'no_sequence'>;
  getSchedule(tenantId: string | null, id: string): Promise<ScheduleRecord | null>;
  /** Order: created_at, id. */
  listSchedules(query: {
    readonly tenantId: string | null;
    readonly limit: number;
    readonly offset: number;
  }): Promise<readonly ScheduleRecord[]>;
  /** Members that are absent stay. A schedule that is switched off forgets the fire that it held back. */
  updateSchedule(
    tenantId: string | null,
    id: string,
    update: ScheduleUpdate,
  ): Promise<ScheduleRecord | 'not_found' | 'stale'>;
  deleteSchedule(tenantId: string | null, id: string): Promise<boolean>;
  /** Schedules that have to be looked at now, the longest overdue first. */
  dueSchedules(
    limit: number,
  ): Promise<{ readonly now: number; readonly schedules: readonly ScheduleRecord[] }>;
  /**
   * One occurrence, in one transaction: overlap is judged by the instances of the schedule that have not ended, the
   * instance is started (idempotent on its key), and the schedule moves on. Nothing happens when `rev` is not the present
   * one: then somebody else has fired, or the schedule was changed.
   */
  fireSchedule(fire: ScheduleFire): Promise<ScheduleFired>;
}

export const OVERLAP_POLICIES = ['allow', 'skip', 'buffer_one', 'cancel_previous'] as const;
/** [CRON-5]. */
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

export interface NewSchedule {
  readonly id: string;
  readonly tenantId: string;
  readonly namespace: string;
  readonly sequenceId: string;
  readonly cronExpr: string;
  readonly timezone: string;
  readonly enabled: boolean;
  readonly metadata: JsonObject;
  readonly overlapPolicy: OverlapPolicy;
  /** Nominal instant of the next occurrence; null when there is none, or the schedule is switched off. */
  readonly nextFireAt: number | null;
}

export interface ScheduleRecord extends NewSchedule {
  readonly skippedFires: number;
  readonly lastSkippedAt: number | null;
  readonly lastTriggeredAt: number | null;
  /** Nominal instant of the fire that waits until the instance before has ended (`buffer_one`). */
  readonly bufferedAt: number | null;
  /** When the buffered fire is looked at again. */
  readonly recheckAt: number | null;
  readonly rev: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ScheduleUpdate {
  readonly rev: number;
  readonly cronExpr?: string;
  readonly timezone?: string;
  readonly enabled?: boolean;
  readonly metadata?: JsonObject;
  readonly overlapPolicy?: OverlapPolicy;
  readonly nextFireAt: number | null;
}

export interface ScheduleFire {
  readonly tenantId: string;
  readonly scheduleId: string;
  readonly sequenceId: string;
  readonly rev: number;
  /** Nominal instant of what is fired. */
  readonly occurrenceAt: number;
  /** `buffer`: the fire that was held back; the next occurrence stays what it is. */
  readonly from: 'next' | 'buffer';
  /** The occurrence that follows; of no meaning for `buffer`. */
  readonly nextFireAt: number | null;
  /** null: the sequence cannot be started; the schedule moves on. */
  readonly instance: NewInstance | null;
  /** How long a buffered fire waits until it is looked at again. */
  readonly recheckMs: number;
}

export type ScheduleFired =
  | {
      readonly status: 'started';
      /** The first instance when the occurrence had been fired before. */
      readonly instanceId: string;
      /** Instances that were sent a cancel (`cancel_previous`). */
      readonly cancelled: readonly string[];
    }
  /**
   * `skipped`: an instance had not ended. `buffered`: held back until it has. `held`: it has still not. `moved_on`: there
   * was nothing to start. `stale`: `rev` is not the present one, or the schedule or its sequence is gone.
   */
  | { readonly status: 'skipped' | 'buffered' | 'held' | 'moved_on' | 'stale' };
