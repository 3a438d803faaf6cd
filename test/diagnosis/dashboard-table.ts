import { instance, NOW, standing, surroundings } from './facts.ts';
import type { Row } from './table.ts';

/** The codes that dashboards ask for besides (dashboard.md A7). */
export const DASHBOARD_TABLE: readonly Row[] = [
  [
    'CONCURRENCY_BLOCKED',
    'an instance without a slot of its concurrency key [DASHBOARD A7]',
    {
      instance: instance({
        concurrencyKey: 'printer',
        maxConcurrency: 2,
        waitsForSlot: true,
        nextFireAt: NOW + 1500,
        dueAt: NOW + 1500,
      }),
      surroundings: surroundings({ slots: { holders: ['i-1', 'i-2'], holderCount: 2, aheadCount: 2 } }),
    },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [],
  ],
  [
    'RATE_LIMITED',
    'a step without a token [DASHBOARD A7]',
    {
      leaves: [standing({ reason: 'rate_limit', limit: 'mail', wakeAt: NOW + 90_000 })],
      surroundings: surroundings({ rates: [{ key: 'mail', count: 4, max: 4, windowMs: 90_000 }] }),
    },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [],
  ],
  [
    'RETRY_BACKOFF',
    'a step between two tries [DASHBOARD A7]',
    {
      leaves: [
        standing({
          reason: 'retry',
          attempt: 2,
          wakeAt: NOW + 5000,
          error: { message: '503 with Bearer abc', retryable: true },
        }),
      ],
    },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [],
  ],
  [
    'SEND_WINDOW',
    'a step outside its send window [DASHBOARD A7]',
    { leaves: [standing({ reason: 'send_window', wakeAt: NOW + 5000 })] },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [],
  ],
  [
    'CANCEL_DRAINING',
    'an instance that a cancel drains [DASHBOARD A7]',
    {
      instance: instance({ state: 'running', dueAt: null, leaseUntil: NOW + 1, cancelRequestedAt: NOW - 10 }),
    },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [],
  ],
];
