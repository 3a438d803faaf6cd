import { isTerminal } from '../core/run/states.ts';
import type { TurnCommit } from '../ports/store/turn.ts';

/** Series that the turns of a process count (http-api.md 2). They never go down. */
export const COUNTED_BY_TURNS = [
  'orch8_instances_completed_total',
  'orch8_instances_failed_total',
  'orch8_steps_executed_total',
  'orch8_steps_failed_total',
  'orch8_steps_retried_total',
  'orch8_signals_delivered_total',
  'orch8_sla_breached_total',
] as const;
export type Counted = (typeof COUNTED_BY_TURNS)[number];

/** Series of what a process does beside its turns. */
export type CountedByHand =
  | 'orch8_cron_triggered_total'
  | 'orch8_cron_skipped_total'
  | 'orch8_webhooks_sent_total'
  | 'orch8_webhooks_failed_total'
  | 'orch8_webhooks_parked_total';

export interface Counters {
  /** Counts what a stored commit says. */
  stored(turn: TurnCommit): void;
  /** One more of a series that is not counted by commits. */
  add(name: CountedByHand): void;
  valueOf(name: string): number;
}

export function createCounters(): Counters {
  const values = new Map<string, number>();
  const count = (name: Counted | CountedByHand, by = 1): void => {
    values.set(name, (values.get(name) ?? 0) + by);
  };
  return {
    stored: ({ rows, journal, stepsDelta, settle }) => {
      count('orch8_steps_executed_total', stepsDelta);
      count('orch8_signals_delivered_total', journal.filter(({ kind }) => kind === 'signal').length);
      for (const { kind } of rows) {
        if (kind === 'retry' || kind === 'error') count('orch8_steps_failed_total');
        if (kind === 'retry') count('orch8_steps_retried_total');
        else if (kind === 'sla') count('orch8_sla_breached_total');
      }
      if (settle === null || settle.afterEnd === true || !isTerminal(settle.state)) return;
      if (settle.state === 'completed') count('orch8_instances_completed_total');
      if (settle.state === 'failed') count('orch8_instances_failed_total');
    },
    add: (name) => count(name),
    valueOf: (name) => values.get(name) ?? 0,
  };
}
