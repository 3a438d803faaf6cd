import type { Json } from '../json.ts';

export type ErrorClass =
  | 'application'
  | 'configuration'
  | 'worker'
  | 'credential'
  | 'policy'
  | 'external_dependency'
  | 'timeout'
  | 'cancelled'
  | 'internal';

/** Kinds of errors that people group by (http-api.md 9); anything else is `unknown`. */
export type GroupCode =
  | 'HTTP_STATUS'
  | 'TIMEOUT'
  | 'CREDENTIAL'
  | 'NO_WORKER'
  | 'CIRCUIT_OPEN'
  | 'BUDGET_EXCEEDED'
  | 'RATE_LIMITED'
  | 'URL_POLICY'
  | 'CONFIGURATION'
  | 'CANCELLED'
  | 'TRANSPORT'
  | 'unknown';

export interface Classified {
  readonly errorClass: ErrorClass;
  readonly code: GroupCode;
}

const of = (errorClass: ErrorClass, code: GroupCode): Classified => ({ errorClass, code });

const CONFIGURATION = of('configuration', 'CONFIGURATION');

const BY_CODE: Readonly<Record<string, Classified>> = {
  TIMEOUT: of('timeout', 'TIMEOUT'),
  DEADLINE_EXCEEDED: of('timeout', 'TIMEOUT'),
  HUMAN_INPUT_TIMEOUT: of('timeout', 'TIMEOUT'),
  HUMAN_TIMEOUT: of('timeout', 'TIMEOUT'),
  QUEUE_TIMEOUT: of('timeout', 'TIMEOUT'),
  RUN_TIMEOUT: of('timeout', 'TIMEOUT'),
  NETWORK_ERROR: of('external_dependency', 'TRANSPORT'),
  DNS_ERROR: of('external_dependency', 'TRANSPORT'),
  BAD_RESPONSE: of('external_dependency', 'unknown'),
  RESPONSE_TOO_LARGE: of('external_dependency', 'unknown'),
  CREDENTIAL_ERROR: of('credential', 'CREDENTIAL'),
  BLOCKED_URL: of('policy', 'URL_POLICY'),
  FORBIDDEN: of('policy', 'unknown'),
  CIRCUIT_OPEN: of('external_dependency', 'CIRCUIT_OPEN'),
  HANDLER_NOT_AVAILABLE: of('worker', 'NO_WORKER'),
  PLUGIN_NOT_REGISTERED: of('worker', 'NO_WORKER'),
  INVALID_PARAMS: CONFIGURATION,
  TEMPLATE_ERROR: CONFIGURATION,
  EXPRESSION_ERROR: CONFIGURATION,
  INPUT_CONTRACT_VIOLATION: CONFIGURATION,
  OUTPUT_CONTRACT_VIOLATION: CONFIGURATION,
  SEQUENCE_NOT_FOUND: CONFIGURATION,
  DEPTH_EXCEEDED: CONFIGURATION,
  INVALID_BLOCKS: CONFIGURATION,
  RESERVED_KEY: CONFIGURATION,
  CHILD_CANCELLED: of('cancelled', 'CANCELLED'),
  MAX_STEPS_EXCEEDED: of('policy', 'BUDGET_EXCEEDED'),
  MAX_RETRIES_EXCEEDED: of('internal', 'unknown'),
  STORAGE_ERROR: of('internal', 'unknown'),
  UNKNOWN_OUTCOME: of('internal', 'unknown'),
};

const APPLICATION = of('application', 'unknown');

/** What kind of failure a code means to the people who look after runs. A status from outside decides first. */
export function classify(code: string | null, status: number | null): Classified {
  if (status === 429) return of('external_dependency', 'RATE_LIMITED');
  if (status !== null) return of('external_dependency', 'HTTP_STATUS');
  return code !== null && Object.hasOwn(BY_CODE, code) ? (BY_CODE[code] ?? APPLICATION) : APPLICATION;
}

/** The status that another side answered, from the details of a failure. */
export function statusOf(details: Json | undefined): number | null {
  if (typeof details !== 'object' || details === null || !('status' in details)) return null;
  const { status } = details;
  return typeof status === 'number' && Number.isInteger(status) ? status : null;
}
