import type { TakeAnswer } from '../core/run/limits/takes.ts';
import { isTerminal } from '../core/run/states.ts';
import type { TurnCommit } from '../ports/store/turn.ts';
import { createTimes, type Times, type TimesView } from './times.ts';

/** Series that the commits of a process count (http-api.md 2). They never go down. */
type CountedByCommits =
  | 'orch8_instances_completed_total'
  | 'orch8_instances_failed_total'
  | 'orch8_steps_executed_total'
  | 'orch8_steps_failed_total'
  | 'orch8_steps_retried_total'
  | 'orch8_signals_delivered_total'
  | 'orch8_rate_limits_exceeded_total'
  | 'orch8_sla_breached_total'
  | 'orch8_cache_hits_total'
  | 'orch8_cache_misses_total';

/** Series of what a process does beside its commits. */
export type CountedByHand =
  | 'orch8_instances_claimed_total'
  | 'orch8_recovery_stale_instances_total'
  | 'orch8_cron_triggered_total'
  | 'orch8_cron_skipped_total'
  | 'orch8_webhooks_sent_total'
  | 'orch8_webhooks_failed_total'
  | 'orch8_webhooks_parked_total';

/** Series of how long something took. */
export type Timed =
  | 'orch8_tick_duration_seconds'
  | 'orch8_step_duration_seconds'
  | 'orch8_instance_processing_seconds';

/** What stands beside a stored commit. */
export interface BesideCommit {
  /** What limits said to its leaves. */
  readonly taken?: readonly TakeAnswer[];
  /** Looks into the result cache before it; they are set to 0. */
  readonly cacheLooks: { hits: number; misses: number };
}

export interface Counters {
  /** Counts what a stored commit says. */
  stored(turn: TurnCommit, beside: BesideCommit): void;
  /** One more of a series that is not counted by commits. */
  add(name: CountedByHand): void;
  /** Something of a series has taken so long. */
  took(name: Timed, ms: number): void;
  /** A handler of a step begins; it is one of the active ones until `stepEnded`. */
  stepBegan(): void;
  stepEnded(ms: number): void;
  /** Handlers that run now. */
  readonly activeSteps: number;
  valueOf(name: string): number;
  /** What has been timed; null for a series of which nothing was. */
  timesOf(name: string): TimesView | null;
}

export function createCounters(): Counters {
  const values = new Map<string, number>();
  const times = new Map<string, Times>();
  let activeSteps = 0;
  const count = (name: CountedByCommits | CountedByHand, by = 1): void => {
    values.set(name, (values.get(name) ?? 0) + by);
  };
  const took = (name: Timed, ms: number): void => {
    const known = times.get(name) ?? createTimes();
    times.set(name, known);
    known.add(ms);
  };
  return {
    stored: (turn, beside) => {
      countCommit(count, turn);
      countBeside(count, beside);
    },
    add: (name) => count(name),
    took,
    stepBegan: () => {
      activeSteps += 1;
    },
    stepEnded: (ms) => {
      activeSteps -= 1;
      took('orch8_step_duration_seconds', ms);
    },
    get activeSteps() {
      return activeSteps;
    },
    valueOf: (name) => values.get(name) ?? 0,
    timesOf: (name) => times.get(name) ?? null,
  };
}

type Count = (name: CountedByCommits, by?: number) => void;

function countCommit(count: Count, { rows, journal, stepsDelta, settle }: TurnCommit): void {
  count('orch8_steps_executed_total', stepsDelta);
  for (const { kind } of journal) if (kind === 'signal') count('orch8_signals_delivered_total');
  for (const { kind } of rows) {
    if (kind === 'retry' || kind === 'error') count('orch8_steps_failed_total');
    if (kind === 'retry') count('orch8_steps_retried_total');
    else if (kind === 'sla') count('orch8_sla_breached_total');
  }
  if (settle === null || settle.afterEnd === true || !isTerminal(settle.state)) return;
  if (settle.state === 'completed') count('orch8_instances_completed_total');
  if (settle.state === 'failed') count('orch8_instances_failed_total');
}

function countBeside(count: Count, { taken, cacheLooks }: BesideCommit): void {
  for (const answer of taken ?? []) {
    if (!answer.granted && answer.reason === 'rate_limit') count('orch8_rate_limits_exceeded_total');
  }
  if (cacheLooks.hits + cacheLooks.misses === 0) return;
  count('orch8_cache_hits_total', cacheLooks.hits);
  count('orch8_cache_misses_total', cacheLooks.misses);
  cacheLooks.hits = 0;
  cacheLooks.misses = 0;
}
