/** Events that outgoing webhooks tell of (http-api.md 21.1). */
export type WebhookEvent =
  | 'instance.completed'
  | 'instance.failed'
  | 'instance.cancelled'
  | 'instance.sla_breached';

/** Why an attempt to deliver a webhook failed (http-api.md 21.2). */
export const WEBHOOK_ERROR_CLASSES = [
  'dns',
  'connect',
  'tls',
  'timeout',
  'redirect_rejected',
  'http_status',
  'signature_configuration',
  'response_too_large',
  'internal_policy',
  'serialization',
  'aborted',
  'other',
] as const;
export type WebhookErrorClass = (typeof WEBHOOK_ERROR_CLASSES)[number];

/** Where the events of a process go. */
export interface WebhookTargets {
  readonly urls: readonly string[];
  /** `instance.cancelled` is told too. */
  readonly cancelled: boolean;
}
