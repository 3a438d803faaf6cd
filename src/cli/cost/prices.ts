/**
 * List prices in US dollars, region us-east-1, without free tiers and discounts, as of summer 2026. They change: each can be
 * set (`stepwell cost --price name=value`), and docs/cost.md says where it comes from.
 */
export const PRICES = {
  /** Lambda on ARM, a million invocations. */
  lambda_million_requests: 0.2,
  lambda_gb_second: 0.000_013_333_4,
  /** SQS, standard queues. */
  sqs_million_requests: 0.4,
  scheduler_million_calls: 1,
  log_gb: 0.5,
  alarm_month: 0.1,
  metric_month: 0.3,
  /** Workers, paid plan, a million requests or calls of cron triggers, queues and objects. */
  workers_million_requests: 0.3,
  workers_million_cpu_ms: 0.02,
  /** Cloudflare Queues; a message written, read and deleted is three operations. */
  queues_million_operations: 0.4,
  objects_million_requests: 0.15,
  workers_plan_month: 5,
  /** A compute unit of Neon for an hour. */
  neon_unit_hour: 0.14,
} as const;

export type PriceName = keyof typeof PRICES;
export type Prices = Readonly<Record<PriceName, number>>;
