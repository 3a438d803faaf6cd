import type { Json } from '../json.ts';

/** What a diagnosis rests on: seen itself, concluded, or a sign that something else may be wrong (http-api.md 7.1). */
export type Category = 'direct_evidence' | 'probable_cause' | 'health_warning';
export type Health = 'expected' | 'degraded' | 'inconsistent';
export type Severity = 'info' | 'warning' | 'error' | 'critical';
export type Confidence = 'low' | 'medium' | 'high' | 'certain';

export type DiagnosisCode =
  | 'BUDGET_PAUSED'
  | 'CANCEL_DRAINING'
  | 'CHILDREN_DONE_PARENT_WAITING'
  | 'CONCURRENCY_BLOCKED'
  | 'EVIDENCE_INCOMPLETE'
  | 'NO_BLOCKER_FOUND'
  | 'NO_COMPATIBLE_WORKER'
  | 'OPEN_CIRCUIT_BREAKER'
  | 'PAUSED'
  | 'PENDING_APPROVAL'
  | 'RATE_LIMITED'
  | 'RETRY_BACKOFF'
  | 'SCHEDULER_LAG'
  | 'SEND_WINDOW'
  | 'SEQUENCE_MISSING'
  | 'SIGNALS_NOT_CONSUMED'
  | 'STALE_RUNNING_STATE'
  | 'STALE_WORKER_CLAIM'
  | 'TERMINAL_STATE'
  | 'WAITING_CHILD'
  | 'WAITING_EVENT'
  | 'WAITING_EXTERNAL_EVENT'
  | 'WAITING_UNTIL'
  | 'WAITING_WORKER_PICKUP'
  | 'WORKER_BELOW_VERSION_PIN'
  | 'WORKER_NOT_CLAIMING'
  | 'WORKER_TASK_PENDING';

export interface Evidence {
  readonly label: string;
  readonly summary: string;
  readonly data?: Json;
}

export interface AffectedResource {
  readonly kind:
    | 'instance'
    | 'block'
    | 'handler'
    | 'worker_task'
    | 'sequence'
    | 'concurrency_key'
    | 'rate_limit'
    | 'pool';
  readonly id: string;
}

/** What a caller may do about it. With `action` the API does it itself (http-api.md 7.2). */
export interface Remediation {
  readonly summary: string;
  readonly command?: string;
  readonly sideEffectRisk: boolean;
  readonly action?: 'resume_instance' | 'retry_instance';
}

export interface Diagnosis {
  readonly category: Category;
  readonly health: Health;
  readonly code: DiagnosisCode;
  readonly severity: Severity;
  readonly summary: string;
  readonly evidence: readonly Evidence[];
  readonly affected: AffectedResource | null;
  readonly remediation: readonly Remediation[];
  readonly confidence: Confidence;
}

type Rank = Pick<Diagnosis, 'category' | 'confidence' | 'health' | 'severity'>;

const rank = (category: Category, confidence: Confidence, health: Health, severity: Severity): Rank => ({
  category,
  confidence,
  health,
  severity,
});

/** The table of 7.1, with the codes that dashboards ask for besides. */
const RANKS: Readonly<Record<DiagnosisCode, Rank>> = {
  BUDGET_PAUSED: rank('direct_evidence', 'certain', 'expected', 'warning'),
  CANCEL_DRAINING: rank('direct_evidence', 'certain', 'expected', 'info'),
  CHILDREN_DONE_PARENT_WAITING: rank('direct_evidence', 'high', 'inconsistent', 'error'),
  CONCURRENCY_BLOCKED: rank('direct_evidence', 'certain', 'expected', 'info'),
  EVIDENCE_INCOMPLETE: rank('health_warning', 'low', 'degraded', 'warning'),
  NO_BLOCKER_FOUND: rank('health_warning', 'low', 'expected', 'info'),
  NO_COMPATIBLE_WORKER: rank('direct_evidence', 'high', 'degraded', 'error'),
  OPEN_CIRCUIT_BREAKER: rank('direct_evidence', 'high', 'degraded', 'warning'),
  PAUSED: rank('direct_evidence', 'certain', 'expected', 'info'),
  PENDING_APPROVAL: rank('direct_evidence', 'certain', 'expected', 'info'),
  RATE_LIMITED: rank('direct_evidence', 'certain', 'expected', 'info'),
  RETRY_BACKOFF: rank('direct_evidence', 'certain', 'expected', 'info'),
  SCHEDULER_LAG: rank('health_warning', 'high', 'degraded', 'warning'),
  SEND_WINDOW: rank('direct_evidence', 'certain', 'expected', 'info'),
  SEQUENCE_MISSING: rank('direct_evidence', 'certain', 'inconsistent', 'critical'),
  SIGNALS_NOT_CONSUMED: rank('health_warning', 'high', 'degraded', 'warning'),
  STALE_RUNNING_STATE: rank('probable_cause', 'medium', 'inconsistent', 'warning'),
  STALE_WORKER_CLAIM: rank('direct_evidence', 'high', 'degraded', 'warning'),
  TERMINAL_STATE: rank('direct_evidence', 'certain', 'expected', 'info'),
  WAITING_CHILD: rank('direct_evidence', 'certain', 'expected', 'info'),
  WAITING_EVENT: rank('direct_evidence', 'certain', 'expected', 'info'),
  WAITING_EXTERNAL_EVENT: rank('probable_cause', 'medium', 'expected', 'info'),
  WAITING_UNTIL: rank('direct_evidence', 'certain', 'expected', 'info'),
  WAITING_WORKER_PICKUP: rank('direct_evidence', 'high', 'expected', 'info'),
  WORKER_BELOW_VERSION_PIN: rank('direct_evidence', 'high', 'degraded', 'error'),
  WORKER_NOT_CLAIMING: rank('probable_cause', 'medium', 'degraded', 'warning'),
  WORKER_TASK_PENDING: rank('direct_evidence', 'high', 'expected', 'info'),
};

export interface Found {
  readonly summary: string;
  readonly evidence?: readonly Evidence[];
  readonly affected?: AffectedResource;
  readonly remediation?: readonly Remediation[];
  /** Where a code has two rows in the table. */
  readonly rank?: Partial<Rank>;
}

export function diagnosis(code: DiagnosisCode, found: Found): Diagnosis {
  const { summary, evidence = [], affected = null, remediation = [], rank: other = {} } = found;
  return { code, ...RANKS[code], ...other, summary, evidence, affected, remediation };
}

const CATEGORIES: readonly Category[] = ['direct_evidence', 'probable_cause', 'health_warning'];
const CONFIDENCES: readonly Confidence[] = ['certain', 'high', 'medium', 'low'];

/** Category as listed, then confidence descending, then code; of one code as they were found (7.1). */
export function inOrder(diagnoses: readonly Diagnosis[]): readonly Diagnosis[] {
  return [...diagnoses].sort(
    (a, b) =>
      CATEGORIES.indexOf(a.category) - CATEGORIES.indexOf(b.category) ||
      CONFIDENCES.indexOf(a.confidence) - CONFIDENCES.indexOf(b.confidence) ||
      (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
  );
}

/** An instant as the wire writes it. */
export function instant(atMs: number): string {
  return new Date(atMs).toISOString();
}
