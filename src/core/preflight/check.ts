import type { DataflowCode } from '../dataflow/check-dataflow.ts';

/** The checks, in the order in which they are answered (http-api.md 4.1). */
export const CHECK_IDS = [
  'definition_valid',
  'lint_clean',
  'input_schema_valid',
  'output_schemas_valid',
  'typed_dataflow_compatible',
  'when_guards_valid',
  'handlers_have_workers',
  'plugins_enabled',
  'credentials_present',
  'queues_consumable',
  'sub_sequences_available',
] as const;
export type CheckId = (typeof CHECK_IDS)[number];

/** From the best to the worst. `unknown`: what the check needs could not be read. */
export const CHECK_STATUSES = ['pass', 'warning', 'unknown', 'fail'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

export type PreflightCode =
  | DataflowCode
  | 'INVALID_DEFINITION'
  | 'LINT_WARNING'
  | 'INVALID_INPUT_SCHEMA'
  | 'INVALID_OUTPUT_SCHEMA'
  | 'EMPTY_WHEN_GUARD'
  | 'NO_COMPATIBLE_WORKER'
  | 'WORKER_BELOW_VERSION_PIN'
  | 'PLUGIN_DISABLED'
  | 'CREDENTIAL_MISSING'
  | 'CREDENTIAL_DISABLED'
  | 'CREDENTIAL_EXPIRED'
  | 'QUEUE_HAS_NO_CONSUMER'
  | 'SUB_SEQUENCE_MISSING'
  | 'SUB_SEQUENCE_UNPUBLISHED'
  | 'SUB_SEQUENCE_DRAFT_ONLY';

export interface PreflightFinding {
  readonly code: PreflightCode;
  readonly severity: 'warning' | 'error';
  readonly summary: string;
  readonly affected: {
    readonly kind: 'sequence' | 'block' | 'handler' | 'plugin' | 'credential' | 'queue';
    readonly id: string;
  };
  /** What a person can do, in one sentence; absent where the summary says it. */
  readonly remedy?: string;
  /** `certain`: it follows from the document alone. */
  readonly confidence: 'high' | 'certain';
}

export interface PreflightCheck {
  readonly id: CheckId;
  readonly status: CheckStatus;
  readonly summary: string;
  readonly findings: readonly PreflightFinding[];
}

/** Findings of one check that are told; the summary counts all of them. */
const FINDINGS_MAX = 1000;

/** What a check says: when all is well, and of so many findings. */
interface Wording {
  readonly clean: string;
  readonly found: (count: number) => string;
}

/** A check that was made: it fails with an error among its findings, and warns with nothing but warnings. */
export function checked(
  id: CheckId,
  findings: readonly PreflightFinding[],
  wording: Wording,
): PreflightCheck {
  const status = findings.some(({ severity }) => severity === 'error') ? 'fail' : 'warning';
  if (findings.length === 0) return { id, status: 'pass', summary: wording.clean, findings };
  return { id, status, summary: wording.found(findings.length), findings: findings.slice(0, FINDINGS_MAX) };
}

export function unknownCheck(id: CheckId, summary: string): PreflightCheck {
  return { id, status: 'unknown', summary, findings: [] };
}

/** The worst status of all checks. */
export function overallOf(checks: readonly PreflightCheck[]): CheckStatus {
  return checks.reduce<CheckStatus>(
    (worst, { status }) => (CHECK_STATUSES.indexOf(status) > CHECK_STATUSES.indexOf(worst) ? status : worst),
    'pass',
  );
}

/** `1 handler has`, `2 handlers have`. */
export function counted(count: number, one: string, many: string): string {
  return count === 1 ? `1 ${one}` : `${count} ${many}`;
}
