import type { Counters } from '../engine/counters.ts';
import { createTimes, type TimesView } from '../engine/times.ts';

/** The queue is not counted beyond: a scrape must stay cheap when there is much to do. */
export const QUEUE_COUNTED_MAX = 10_000;

/** The series of http-api.md 2 with their help texts. They keep the names that existing dashboards ask for. */
const COUNTERS: ReadonlyArray<readonly [string, string]> = [
  ['orch8_instances_claimed_total', 'Instances claimed by a turn.'],
  ['orch8_instances_completed_total', 'Instances that ended completed.'],
  ['orch8_instances_failed_total', 'Instances that ended failed.'],
  ['orch8_steps_executed_total', 'Step attempts that were dispatched.'],
  ['orch8_steps_failed_total', 'Step attempts that failed.'],
  ['orch8_steps_retried_total', 'Step attempts that were followed by another one.'],
  ['orch8_signals_delivered_total', 'Signals that were processed.'],
  ['orch8_cron_triggered_total', 'Instances started by schedules.'],
  ['orch8_cron_skipped_total', 'Occurrences of schedules that were skipped.'],
  ['orch8_rate_limits_exceeded_total', 'Steps put off by a rate limit.'],
  ['orch8_recovery_stale_instances_total', 'Instances taken over from a turn that did not end.'],
  ['orch8_sla_breached_total', 'Breaches of an SLA.'],
  ['orch8_webhooks_sent_total', 'Outbound webhooks delivered.'],
  ['orch8_webhooks_failed_total', 'Attempts to deliver an outbound webhook that failed.'],
  ['orch8_webhooks_parked_total', 'Outbound webhooks given up.'],
  ['orch8_cache_hits_total', 'Results taken from the cache.'],
  ['orch8_cache_misses_total', 'Look-ups in the result cache without result.'],
  ['orch8_tasks_pushed_total', 'Worker tasks pushed to a worker.'],
  ['orch8_tasks_push_failed_total', 'Pushes of worker tasks that failed.'],
];

const HISTOGRAMS: ReadonlyArray<readonly [string, string]> = [
  ['orch8_tick_duration_seconds', 'Duration of one look for due instances.'],
  ['orch8_step_duration_seconds', 'Duration of one step attempt.'],
  ['orch8_instance_processing_seconds', 'Duration of one turn.'],
];

/** Every series, exported from the start: what this process has counted, 0 for what nobody counts. */
export function metricsText(counters: Counters | undefined, queueDepth: number): string {
  return [
    ...COUNTERS.map(([name, help]) =>
      series(name, help, 'counter', [`${name} ${counters?.valueOf(name) ?? 0}`]),
    ),
    gauge(
      'orch8_queue_depth',
      `Instances that are due and not claimed, at most ${QUEUE_COUNTED_MAX}.`,
      queueDepth,
    ),
    gauge('orch8_active_tasks', 'Steps that are running in this process.', counters?.activeSteps ?? 0),
    ...HISTOGRAMS.map(([name, help]) =>
      series(name, help, 'histogram', histogram(name, counters?.timesOf(name) ?? createTimes())),
    ),
  ].join('');
}

function gauge(name: string, help: string, value: number): string {
  return series(name, help, 'gauge', [`${name} ${value}`]);
}

function histogram(name: string, times: TimesView): readonly string[] {
  return [
    ...times.upTo().map(({ boundMs, count }) => `${name}_bucket{le="${boundMs / 1000}"} ${count}`),
    `${name}_bucket{le="+Inf"} ${times.count}`,
    `${name}_sum ${times.sumMs / 1000}`,
    `${name}_count ${times.count}`,
  ];
}

function series(name: string, help: string, type: string, samples: readonly string[]): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples, ''].join('\n');
}
