import * as z from 'zod';
import { CHECK_IDS, CHECK_STATUSES, type PreflightFinding } from '../../core/preflight/check.ts';
import type { Preflight } from '../../engine/preflight.ts';
import { Timestamp, timestamp } from './wire-values.ts';

const FindingBody = z.object({
  code: z.string(),
  severity: z.enum(['info', 'warning', 'error', 'critical']),
  summary: z.string(),
  affected_resource: z.object({ kind: z.string(), id: z.string() }),
  remediation: z.array(z.object({ summary: z.string(), side_effect_risk: z.boolean() })).exactOptional(),
  confidence: z.enum(['low', 'medium', 'high', 'certain']),
  observed_at: Timestamp,
});

/** Answer of the preflight of a draft or a version (http-api.md 4.1). */
export const PreflightBody = z.object({
  sequence_name: z.string(),
  sequence_version: z.int(),
  overall: z.enum(CHECK_STATUSES),
  checks: z.array(
    z.object({
      id: z.enum(CHECK_IDS),
      status: z.enum(CHECK_STATUSES),
      summary: z.string(),
      findings: z.array(FindingBody).exactOptional(),
    }),
  ),
  generated_at: Timestamp,
});

export function showPreflight(preflight: Preflight): z.infer<typeof PreflightBody> {
  const { sequenceName, sequenceVersion, overall, checks, generatedAt } = preflight;
  return {
    sequence_name: sequenceName,
    sequence_version: sequenceVersion,
    overall,
    checks: checks.map(({ id, status, summary, findings }) => ({
      id,
      status,
      summary,
      ...(findings.length === 0
        ? {}
        : { findings: findings.map((finding) => showFinding(finding, timestamp(generatedAt))) }),
    })),
    generated_at: timestamp(generatedAt),
  };
}

function showFinding(finding: PreflightFinding, observedAt: string): z.infer<typeof FindingBody> {
  const { code, severity, summary, affected, remedy, confidence } = finding;
  return {
    code,
    severity,
    summary,
    affected_resource: affected,
    ...(remedy === undefined ? {} : { remediation: [{ summary: remedy, side_effect_risk: false }] }),
    confidence,
    observed_at: observedAt,
  };
}
