import * as z from 'zod';
import { Duration, JsonValue, WholeNumber } from './scalars.ts';

/** Wait before a step (sequences.md 12.2). `duration` and `jitter` are milliseconds. */
const Delay = z.object({
  duration: Duration,
  business_days_only: z.boolean().default(false),
  jitter: Duration.exactOptional(),
  /** Dates `YYYY-MM-DD` that are no business days. */
  holidays: z.array(z.string()).default([]),
  /** Local wall-clock time `YYYY-MM-DDTHH:MM:SS` that replaces `duration`. */
  fire_at_local: z.string().exactOptional(),
  /** IANA name; absent: the instance's zone. */
  timezone: z.string().exactOptional(),
});
export type Delay = z.infer<typeof Delay>;

/** Hours in which a step may start (12.4). `end_hour` is exclusive, day 0 is Monday, no days means every day. */
const SendWindow = z.object({
  start_hour: WholeNumber.default(9),
  end_hour: WholeNumber.default(17),
  days: z.array(WholeNumber).default([]),
});
export type SendWindow = z.infer<typeof SendWindow>;

const Choice = z.object({ label: z.string(), value: z.string() });
export type Choice = z.infer<typeof Choice>;

/** What a gate offers when the author names no choices. */
export const DEFAULT_CHOICES: readonly Choice[] = [
  { label: 'Yes', value: 'yes' },
  { label: 'No', value: 'no' },
];

/** Human gate in front of a step (chapter 14). `store_as` absent means the block id. */
const HumanInput = z.object({
  prompt: z.string().default(''),
  timeout: Duration.exactOptional(),
  escalation_handler: z.string().exactOptional(),
  choices: z.array(Choice).default(() => DEFAULT_CHOICES.map((choice) => ({ ...choice }))),
  store_as: z.string().exactOptional(),
  allow_comment: z.boolean().default(false),
});
export type HumanInput = z.infer<typeof HumanInput>;

/** Retry policy of a step (15.2). `max_attempts` counts all tries, the first one included. Back-offs are milliseconds. */
export const RetryPolicy = z.object({
  max_attempts: WholeNumber,
  initial_backoff: Duration,
  max_backoff: Duration,
  backoff_multiplier: z.number().default(2),
  retry_if: z.string().exactOptional(),
  non_retryable_codes: z.array(z.string()).exactOptional(),
});
export type RetryPolicy = z.infer<typeof RetryPolicy>;

/** What the handler and the templates of a step may see (11.3). An absent `context_access` hides nothing. */
const ContextAccess = z.object({
  data: z
    .union([z.boolean(), z.literal(['all', 'none']), z.object({ fields: z.array(z.string()) })], {
      error: 'expected true, false, "all", "none" or {"fields": [...]}',
    })
    .default(true),
  config: z.boolean().default(true),
  audit: z.boolean().default(false),
  runtime: z.boolean().default(false),
});
export type ContextAccess = z.infer<typeof ContextAccess>;

/** Undo action for the operator-started rollback; the core stores it and never runs it. */
const Compensation = z.object({
  handler: z.string(),
  params: JsonValue.exactOptional(),
  depends_on: z.array(z.string()).exactOptional(),
  verification: z.enum(['handler_result', 'provider_receipt', 'manual']).default('handler_result'),
});
export type Compensation = z.infer<typeof Compensation>;

/** Escalation at a deadline breach (13.7). */
const BreachAction = z.object({
  handler: z.string(),
  params: JsonValue.exactOptional(),
});
export type BreachAction = z.infer<typeof BreachAction>;

/**
 * A leaf that calls a handler (2.3). Durations are integer milliseconds. Absent members stay absent: `params` counts
 * as `{}`, `on_uncertain` as `retry` (RULINGS B10), `context_access` as everything visible.
 */
export const StepBlock = z.object({
  type: z.literal('step'),
  id: z.string(),
  handler: z.string(),
  params: JsonValue.exactOptional(),
  when: z.string().exactOptional(),
  delay: Delay.exactOptional(),
  send_window: SendWindow.exactOptional(),
  rate_limit_key: z.string().exactOptional(),
  /** Name of the resource pool that is asked after the rate token (RULINGS B24). */
  pool: z.string().exactOptional(),
  wait_for_input: HumanInput.exactOptional(),
  retry: RetryPolicy.exactOptional(),
  timeout: Duration.exactOptional(),
  deadline: Duration.exactOptional(),
  on_deadline_breach: BreachAction.exactOptional(),
  context_access: ContextAccess.exactOptional(),
  cancellable: z.boolean().default(true),
  queue_name: z.string().exactOptional(),
  fallback_handler: z.string().exactOptional(),
  cache_key: z.string().exactOptional(),
  output_schema: JsonValue.exactOptional(),
  compensation: Compensation.exactOptional(),
  /** What happens to an attempt whose outcome is unknown (RULINGS B10). */
  on_uncertain: z.enum(['retry', 'ask', 'fail']).exactOptional(),
});
export type StepBlock = z.infer<typeof StepBlock>;
