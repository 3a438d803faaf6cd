import type { Json, JsonObject } from '../json.ts';
import type { InstanceRecord } from './record.ts';

/** The runtime section of a context (sequences.md 11.4). */
export function runtimeSection(
  record: InstanceRecord,
  attempt: number = record.currentStep?.attempt ?? 0,
): JsonObject {
  const at = (instant: number | null | undefined): Json =>
    instant === null || instant === undefined ? null : new Date(instant).toISOString();
  return {
    instance_id: record.id,
    run_id: record.runId,
    current_step: record.currentStep?.blockId ?? null,
    current_step_started_at: at(record.currentStep?.startedAt),
    started_at: at(record.startedAt),
    attempt,
    total_steps_executed: record.totalSteps,
    resource_key: record.currentStep?.resource ?? null,
    dry_run: record.dryRun,
    dry_run_auto_approve: record.dryRunAutoApprove,
  };
}
