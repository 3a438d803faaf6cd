import * as z from 'zod';
import type { Diagnosis } from '../../core/diagnosis/finding.ts';
import { redact } from '../../core/redaction.ts';
import type { InstanceDiagnosis } from '../../engine/diagnose-instance.ts';
import type { AppliedRemediation, RemediationPreview } from '../../engine/remediations.ts';
import { InstanceStateName, JsonValue, Timestamp, timestamp, Uuid } from './wire-values.ts';

const EvidenceBody = z.object({
  label: z.string(),
  summary: z.string(),
  data: JsonValue.exactOptional(),
  observed_at: Timestamp.exactOptional(),
});

const RemediationBody = z.object({
  summary: z.string(),
  command: z.string().exactOptional(),
  side_effect_risk: z.boolean(),
  action: z.enum(['resume_instance', 'retry_instance']).exactOptional(),
});

/** A finding of http-api.md 4.1 with its category and health. Empty lists are left out. */
const DiagnosisBody = z.object({
  category: z.enum(['direct_evidence', 'probable_cause', 'health_warning']),
  health: z.enum(['expected', 'degraded', 'inconsistent']),
  code: z.string(),
  severity: z.enum(['info', 'warning', 'error', 'critical']),
  summary: z.string(),
  evidence: z.array(EvidenceBody).exactOptional(),
  affected_resource: z.object({ kind: z.string(), id: z.string() }).exactOptional(),
  remediation: z.array(RemediationBody).exactOptional(),
  confidence: z.enum(['low', 'medium', 'high', 'certain']),
  observed_at: Timestamp,
});

/** Answer of `GET /instances/{id}/diagnosis` (http-api.md 7.1). */
export const InstanceDiagnosisBody = z.object({
  instance_id: Uuid,
  state: InstanceStateName,
  diagnoses: z.array(DiagnosisBody).min(1),
  generated_at: Timestamp,
});

export const RemediationList = z.array(
  z.object({
    preview_id: z.string(),
    finding_code: z.string(),
    remediation_index: z.int(),
    action: z.enum(['resume_instance', 'retry_instance', 'manual']),
    summary: z.string(),
    command: z.string().exactOptional(),
    side_effect_risk: z.boolean(),
    expected_state: InstanceStateName,
  }),
);

export const ApplyInput = z.object({
  preview_id: z.string(),
  acknowledge_side_effect_risk: z
    .boolean()
    .nullish()
    .transform((given) => given ?? false),
});

export const AppliedBody = z.object({
  preview_id: z.string(),
  action: z.enum(['resume_instance', 'retry_instance', 'manual']),
  before_state: InstanceStateName,
  after_state: InstanceStateName,
  applied_at: Timestamp,
});

export function showDiagnosis({
  instanceId,
  state,
  diagnoses,
  observedAt,
}: InstanceDiagnosis): z.infer<typeof InstanceDiagnosisBody> {
  const at = timestamp(observedAt);
  return {
    instance_id: instanceId,
    state,
    diagnoses: diagnoses.map((diagnosis) => showOne(diagnosis, at)),
    generated_at: at,
  };
}

function showOne(diagnosis: Diagnosis, observedAt: string): z.infer<typeof DiagnosisBody> {
  const { category, health, code, severity, summary, evidence, affected, remediation } = diagnosis;
  return {
    category,
    health,
    code,
    severity,
    summary,
    ...(evidence.length === 0 ? {} : { evidence: evidence.map(showEvidence) }),
    ...(affected === null ? {} : { affected_resource: affected }),
    ...(remediation.length === 0 ? {} : { remediation: remediation.map(showRemediation) }),
    confidence: diagnosis.confidence,
    observed_at: observedAt,
  };
}

function showEvidence({ label, summary, data }: Diagnosis['evidence'][number]): z.infer<typeof EvidenceBody> {
  return { label, summary, ...(data === undefined ? {} : { data: redact(data) }) };
}

function showRemediation({
  summary,
  command,
  sideEffectRisk,
  action,
}: Diagnosis['remediation'][number]): z.infer<typeof RemediationBody> {
  return {
    summary,
    ...(command === undefined ? {} : { command }),
    side_effect_risk: sideEffectRisk,
    ...(action === undefined ? {} : { action }),
  };
}

export function showPreview(preview: RemediationPreview): z.infer<typeof RemediationList>[number] {
  const { summary, command, sideEffectRisk } = preview.remediation;
  return {
    preview_id: preview.previewId,
    finding_code: preview.findingCode,
    remediation_index: preview.remediationIndex,
    action: preview.action,
    summary,
    ...(command === undefined ? {} : { command }),
    side_effect_risk: sideEffectRisk,
    expected_state: preview.expectedState,
  };
}

export function showApplied(
  previewId: string,
  { action, beforeState, afterState }: AppliedRemediation,
  appliedAt: number,
): z.infer<typeof AppliedBody> {
  return {
    preview_id: previewId,
    action,
    before_state: beforeState,
    after_state: afterState,
    applied_at: timestamp(appliedAt),
  };
}
