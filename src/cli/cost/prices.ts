/** What a price rests on, as the output and docs/cost.md show it. */
export type PriceSource = 'provider' | 'quoted' | 'given';

export interface Price {
  readonly dollars: number;
  /** `million`: the price of a million units. */
  readonly per: 'one' | 'million';
  readonly unit: string;
  readonly what: string;
  /**
   * `provider`: read in the provider's own documentation. `quoted`: read where others quote the provider, whose page shows its prices
   * to browsers only. `given`: the user's.
   */
  readonly from: PriceSource;
  /** Day or month of what was read; empty: it bears no date. */
  readonly asOf: string;
  /** What a month has free of charge (`--free-tiers`): always free on AWS, included in the plan on Cloudflare. */
  readonly free: number;
}

/**
 * List prices in US dollars, us-east-1. They change: each can be set (`--price name=dollars`, `--prices file.json`), and docs/cost.md
 * says where it was read.
 */
export const PRICES = {
  lambda_million_requests: millions(0.2, 'calls', 'Lambda requests', 'quoted', '2026-09-20', 1e6),
  lambda_million_gb_seconds: millions(13.3334, 'GB-s', 'Lambda time, ARM', 'quoted', '2024', 400_000),
  sqs_million_requests: millions(0.4, 'calls', 'SQS, standard queue', 'quoted', '2026-06', 1e6),
  sqs_million_fair_requests: millions(
    0.1,
    'calls',
    'SQS, requests of fair queues on top',
    'quoted',
    '2026-03',
    0,
  ),
  scheduler_million_calls: millions(1, 'calls', 'EventBridge Scheduler', 'quoted', '2026-05', 14e6),
  log_gb: each(0.5, 'GB', 'CloudWatch, logs taken in', 'quoted', '2026-06-13', 5),
  alarm_month: each(0.1, 'alarm', 'CloudWatch, a metric that an alarm looks at', 'quoted', '2026-05-05', 10),
  metric_month: each(0.3, 'metric', 'CloudWatch, a metric', 'quoted', '2026-05-05', 10),
  workers_plan_month: each(5, 'month', 'Workers Paid', 'provider', '', 0),
  workers_million_requests: millions(0.3, 'calls', 'Workers requests', 'provider', '', 10e6),
  workers_million_cpu_ms: millions(0.02, 'ms', 'Workers CPU', 'provider', '', 30e6),
  workers_log_gb: each(0.25, 'GB', 'Workers Logs, taken in', 'provider', '2026-11', 50),
  queues_million_operations: millions(0.4, 'ops', 'Cloudflare Queues', 'provider', '', 1e6),
  objects_million_requests: millions(
    0.15,
    'calls',
    'Durable Objects, requests and alarms',
    'provider',
    '',
    1e6,
  ),
  objects_million_gb_seconds: millions(12.5, 'GB-s', 'Durable Objects, time', 'provider', '', 400_000),
  objects_million_rows: millions(1, 'rows', 'Durable Objects, rows written', 'provider', '', 50e6),
  neon_unit_hour: each(0.106, 'CU-h', 'Neon Launch, a compute unit for an hour', 'provider', '2026-11-12', 0),
  neon_storage_gb: each(0.35, 'GB-mo', 'Neon, storage', 'provider', '2026-11-12', 0),
  neon_history_gb: each(0.2, 'GB-mo', 'Neon, history to restore from', 'provider', '2026-03-20', 0),
} as const satisfies Readonly<Record<string, Price>>;

export type PriceName = keyof typeof PRICES;
export type Prices = Readonly<Record<PriceName, Price>>;

/** What an amount costs; `free` is left out where the user asks for it. */
export function dollarsFor({ dollars, per }: Price, amount: number): number {
  return (amount / (per === 'million' ? 1e6 : 1)) * dollars;
}

export function isPriceName(name: string): name is PriceName {
  return Object.hasOwn(PRICES, name);
}

function millions(
  dollars: number,
  unit: string,
  what: string,
  from: PriceSource,
  asOf: string,
  free: number,
): Price {
  return { dollars, per: 'million', unit, what, from, asOf, free };
}

function each(
  dollars: number,
  unit: string,
  what: string,
  from: PriceSource,
  asOf: string,
  free: number,
): Price {
  return { dollars, per: 'one', unit, what, from, asOf, free };
}
