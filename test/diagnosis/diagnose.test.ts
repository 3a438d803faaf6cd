import { describe, expect, it } from 'vitest';
import { diagnose } from '../../src/core/diagnosis/diagnose.ts';
import type { DiagnosisFacts } from '../../src/core/diagnosis/facts.ts';
import type { DiagnosisCode } from '../../src/core/diagnosis/finding.ts';
import { facts, ID, instance, NOW, signal, standing, surroundings, task } from './facts.ts';

const gate = {
  openedAt: NOW - 3_600_000,
  prompt: 'Refund?',
  choices: [
    { label: 'Yes', value: 'yes' },
    { label: 'No', value: 'no' },
  ],
  storeAs: 'ask',
  allowComment: false,
  timeoutMs: null,
  escalationHandler: null,
  kind: 'choice',
} as const;

const open = {
  handler: 'parcel_lookup',
  openedAt: NOW - 48_000,
  cooldownMs: 60_000,
  failureCount: 5,
} as const;
const alive = [{ handler: 'parcel_lookup', versions: ['1.9.4', null] }];
const waiting = instance({ state: 'waiting', dueAt: null, updatedAt: NOW - 5000 });

/** Each row of the table of 7.1: what is so, and category, confidence, health, severity, remediations. */
const TABLE: readonly (readonly [
  DiagnosisCode,
  string,
  Partial<DiagnosisFacts>,
  readonly [string, string, string, string],
  ReadonlyArray<{ readonly command?: string; readonly risk: boolean; readonly action?: string }>,
])[] = [
  [
    'TERMINAL_STATE',
    'an instance that has completed',
    { instance: instance({ state: 'completed', dueAt: null }) },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [],
  ],
  [
    'TERMINAL_STATE',
    'an instance that has failed',
    { instance: instance({ state: 'failed', dueAt: null }) },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [{ command: `orch8 instance retry ${ID}`, risk: true, action: 'retry_instance' }],
  ],
  [
    'PAUSED',
    'a paused instance',
    { instance: instance({ state: 'paused', dueAt: null }) },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [{ command: `orch8 signal ${ID} resume`, risk: false, action: 'resume_instance' }],
  ],
  [
    'BUDGET_PAUSED',
    'an instance that its budget has paused',
    {
      instance: instance({
        state: 'paused',
        dueAt: null,
        metadata: {
          paused_reason: 'budget_exceeded',
          budget_breach: { limit: 'max_steps', limit_value: 3, actual: 4 },
        },
      }),
    },
    ['direct_evidence', 'certain', 'expected', 'warning'],
    [{ command: `orch8 signal ${ID} resume`, risk: false, action: 'resume_instance' }],
  ],
  [
    'PENDING_APPROVAL',
    'a gate',
    { instance: waiting, leaves: [standing({ reason: 'input', gate })] },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [{ command: `orch8 signal ${ID} custom:human_input:ask '{"value":"yes"}'`, risk: true }],
  ],
  [
    'WAITING_EVENT',
    'a wait for an event',
    { instance: waiting, leaves: [standing({ reason: 'event' })] },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [],
  ],
  [
    'WAITING_EXTERNAL_EVENT',
    'a waiting instance of which nothing more is known',
    { instance: waiting },
    ['probable_cause', 'medium', 'expected', 'info'],
    [{ command: `orch8 signal ${ID} custom:<name> '<payload>'`, risk: true }],
  ],
  [
    'WAITING_UNTIL',
    'a scheduled instance with a due time to come',
    { instance: instance({ nextFireAt: NOW + 60_000, dueAt: NOW + 60_000 }) },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [],
  ],
  [
    'NO_COMPATIBLE_WORKER',
    'a task whose handler nobody has polled for',
    { instance: waiting, tasks: [task()] },
    ['direct_evidence', 'high', 'degraded', 'error'],
    [{ risk: false }],
  ],
  [
    'WORKER_BELOW_VERSION_PIN',
    'live workers below the pin',
    {
      instance: waiting,
      tasks: [task()],
      surroundings: surroundings({
        workers: alive,
        pins: [{ handler: 'parcel_lookup', minVersion: '1.10.0' }],
      }),
    },
    ['direct_evidence', 'high', 'degraded', 'error'],
    [],
  ],
  [
    'WORKER_NOT_CLAIMING',
    'a task that live workers leave for more than two minutes',
    {
      instance: waiting,
      tasks: [task({ createdAt: NOW - 120_001 })],
      surroundings: surroundings({ workers: alive }),
    },
    ['probable_cause', 'medium', 'degraded', 'warning'],
    [],
  ],
  [
    'WAITING_WORKER_PICKUP',
    'a task that was offered just now',
    {
      instance: waiting,
      tasks: [task({ createdAt: NOW - 120_000 })],
      surroundings: surroundings({ workers: alive }),
    },
    ['direct_evidence', 'high', 'expected', 'info'],
    [],
  ],
  [
    'WORKER_TASK_PENDING',
    'a claimed task with a heartbeat',
    {
      instance: waiting,
      tasks: [
        task({ state: 'claimed', workerId: 'w-1', claimedAt: NOW - 900_000, heartbeatAt: NOW - 120_000 }),
      ],
    },
    ['direct_evidence', 'high', 'expected', 'info'],
    [],
  ],
  [
    'STALE_WORKER_CLAIM',
    'a claimed task that has been silent for more than two minutes',
    {
      instance: waiting,
      tasks: [
        task({ state: 'claimed', workerId: 'w-1', claimedAt: NOW - 900_000, heartbeatAt: NOW - 120_001 }),
      ],
    },
    ['direct_evidence', 'high', 'degraded', 'warning'],
    [],
  ],
  [
    'OPEN_CIRCUIT_BREAKER',
    'an open breaker of the handler of a task',
    {
      instance: waiting,
      tasks: [task()],
      surroundings: surroundings({ breakers: [{ ...open, state: 'open' }] }),
    },
    ['direct_evidence', 'high', 'degraded', 'warning'],
    [],
  ],
  [
    'OPEN_CIRCUIT_BREAKER',
    'an open breaker of some other handler',
    { surroundings: surroundings({ breakers: [{ ...open, state: 'open' }] }) },
    ['health_warning', 'low', 'degraded', 'warning'],
    [],
  ],
  [
    'OPEN_CIRCUIT_BREAKER',
    'a breaker that holds a step back while its probe is out',
    {
      leaves: [standing({ reason: 'breaker', limit: 'parcel_lookup', wakeAt: NOW + 5000 })],
      surroundings: surroundings({ breakers: [{ ...open, state: 'half_open' }] }),
    },
    ['direct_evidence', 'high', 'degraded', 'warning'],
    [],
  ],
  [
    'WAITING_CHILD',
    'a child that has not ended',
    {
      instance: waiting,
      leaves: [standing({ reason: 'child', childId: 'c-1' })],
      surroundings: surroundings({ children: [{ id: 'c-1', state: 'running' }] }),
    },
    ['direct_evidence', 'certain', 'expected', 'info'],
    [],
  ],
  [
    'CHILDREN_DONE_PARENT_WAITING',
    'a parent whose children have all ended',
    {
      instance: waiting,
      leaves: [standing({ reason: 'child', childId: 'c-1' })],
      surroundings: surroundings({ children: [{ id: 'c-1', state: 'completed' }] }),
    },
    ['direct_evidence', 'high', 'inconsistent', 'error'],
    [],
  ],
  [
    'SIGNALS_NOT_CONSUMED',
    'a signal that waits for more than a minute',
    { inbox: [signal('custom:hello', NOW - 60_001)] },
    ['health_warning', 'high', 'degraded', 'warning'],
    [],
  ],
  [
    'STALE_RUNNING_STATE',
    'a running instance that nobody has touched for more than ten minutes',
    {
      instance: instance({
        state: 'running',
        dueAt: null,
        leaseUntil: NOW - 1,
        updatedAt: NOW - 600_001,
      }),
    },
    ['probable_cause', 'medium', 'inconsistent', 'warning'],
    [],
  ],
  [
    'SCHEDULER_LAG',
    'an instance that has been due for more than five minutes',
    { instance: instance({ dueAt: NOW - 300_001, nextFireAt: NOW - 300_001 }) },
    ['health_warning', 'high', 'degraded', 'warning'],
    [],
  ],
  [
    'SEQUENCE_MISSING',
    'an instance without its sequence',
    { sequence: 'missing' },
    ['direct_evidence', 'certain', 'inconsistent', 'critical'],
    [],
  ],
  [
    'NO_BLOCKER_FOUND',
    'an instance that is due just now',
    {},
    ['health_warning', 'low', 'expected', 'info'],
    [],
  ],
  [
    'EVIDENCE_INCOMPLETE',
    'surroundings that could not be read',
    { surroundings: null },
    ['health_warning', 'low', 'degraded', 'warning'],
    [],
  ],
  [
    'EVIDENCE_INCOMPLETE',
    'a sequence that could not be read',
    { sequence: 'unknown' },
    ['health_warning', 'low', 'degraded', 'warning'],
    [],
  ],
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

const find = (given: Partial<DiagnosisFacts>, code: DiagnosisCode) =>
  diagnose(facts(given)).filter((one) => one.code === code);
const codes = (given: Partial<DiagnosisFacts>) => diagnose(facts(given)).map(({ code }) => code);
const one = (given: Partial<DiagnosisFacts>, code: DiagnosisCode) => {
  const found = find(given, code);
  expect(found).toHaveLength(1);
  return found[0];
};

describe('the table of diagnoses [API 7.1]', () => {
  it.each(TABLE)(
    '%s is said of %s',
    (code, _what, given, [category, confidence, health, severity], remedies) => {
      expect(one(given, code)).toMatchObject({ category, confidence, health, severity });
      const shown = one(given, code)?.remediation.map(({ command, sideEffectRisk: risk, action }) => ({
        ...(command === undefined ? {} : { command }),
        risk,
        ...(action === undefined ? {} : { action }),
      }));
      expect(shown).toEqual(remedies);
    },
  );

  it.each([
    ['TERMINAL_STATE', { instance: instance({ state: 'cancelled' }) }, 'cancelled'],
    ['PENDING_APPROVAL', { leaves: [standing({ reason: 'input', gate })] }, "'ask'"],
    ['NO_COMPATIBLE_WORKER', { tasks: [task()] }, 'no live worker'],
    [
      'OPEN_CIRCUIT_BREAKER',
      { surroundings: surroundings({ breakers: [{ ...open, state: 'open' }] }) },
      "handler 'parcel_lookup'",
    ],
    [
      'OPEN_CIRCUIT_BREAKER',
      { surroundings: surroundings({ breakers: [{ ...open, state: 'open' }] }) },
      'retries resume in 12 s',
    ],
    [
      'CONCURRENCY_BLOCKED',
      TABLE.find(([code]) => code === 'CONCURRENCY_BLOCKED')?.[2] ?? {},
      '2 of 2 slots',
    ],
    ['RETRY_BACKOFF', TABLE.find(([code]) => code === 'RETRY_BACKOFF')?.[2] ?? {}, 'try 3 of 4'],
  ] as const)('the summary of %s, case %#, tells what it must', (code, given, text) => {
    expect(one(given, code)?.summary).toContain(text);
  });

  it.each([
    [
      'WAITING_UNTIL',
      { instance: instance({ nextFireAt: NOW + 1000 }) },
      'next_fire_at',
      '2027-02-11T09:00:01.000Z',
    ],
    [
      'OPEN_CIRCUIT_BREAKER',
      { surroundings: surroundings({ breakers: [{ ...open, state: 'open' }] }) },
      'opened_at',
      '2027-02-11T08:59:12.000Z',
    ],
    [
      'PENDING_APPROVAL',
      { leaves: [standing({ reason: 'input', gate })] },
      'waiting_since',
      '2027-02-11T08:00:00.000Z',
    ],
    [
      'BUDGET_PAUSED',
      TABLE.find(([code]) => code === 'BUDGET_PAUSED')?.[2] ?? {},
      'budget',
      'max_steps 3, used 4',
    ],
  ] as const)('%s rests on %#', (code, given, label, summary) => {
    expect(one(given, code)?.evidence).toContainEqual(expect.objectContaining({ label, summary }));
  });

  it('secrets in an error are not shown as evidence', () => {
    const given = TABLE.find(([code]) => code === 'RETRY_BACKOFF')?.[2] ?? {};
    expect(JSON.stringify(one(given, 'RETRY_BACKOFF'))).not.toContain('abc');
  });
});

describe('which diagnoses stand beside each other', () => {
  it('an ended instance has one, whatever else is known', () => {
    const ended = instance({ state: 'failed', dueAt: NOW - 900_000, nextFireAt: NOW + 1 });
    expect(codes({ instance: ended, tasks: [task()], surroundings: null, sequence: 'missing' })).toEqual([
      'TERMINAL_STATE',
    ]);
  });

  it('they are ordered by category, then confidence, then code', () => {
    const given = {
      instance: instance({ state: 'waiting', dueAt: NOW - 300_001, updatedAt: NOW }),
      leaves: [standing({ reason: 'input', gate }), standing({ reason: 'event' })],
      tasks: [task({ createdAt: NOW - 500_000 }), task()],
      inbox: [signal('pause', NOW - 70_000)],
      surroundings: surroundings({ workers: alive, breakers: [{ ...open, handler: 'a', state: 'open' }] }),
    };
    expect(codes(given)).toEqual([
      'PENDING_APPROVAL',
      'WAITING_EVENT',
      'WAITING_WORKER_PICKUP',
      'WORKER_NOT_CLAIMING',
      'SCHEDULER_LAG',
      'SIGNALS_NOT_CONSUMED',
      'OPEN_CIRCUIT_BREAKER',
    ]);
  });

  it('a paused instance does not wait for its due time, and its tasks are nobody’s fault', () => {
    const given = { instance: instance({ state: 'paused', nextFireAt: NOW + 1000 }), tasks: [task()] };
    expect(codes(given)).toEqual(['PAUSED']);
  });

  it('what keeps a run to its due time comes before the due time', () => {
    const given = {
      instance: instance({ nextFireAt: NOW + 5000 }),
      leaves: [standing({ reason: 'send_window', wakeAt: NOW + 5000 })],
    };
    expect(codes(given)).toEqual(['SEND_WINDOW', 'WAITING_UNTIL']);
  });

  it('a parked sleep waits until its end and is not stale', () => {
    const parked = instance({ state: 'running', dueAt: NOW + 900_000, updatedAt: NOW - 900_000 });
    const leaves = [standing({ state: 'running', reason: 'sleep', wakeAt: NOW + 900_000 })];
    expect(codes({ instance: parked, leaves })).toEqual(['WAITING_UNTIL']);
  });

  it('a lease that is renewed keeps a long step from being stale', () => {
    const busy = instance({ state: 'running', dueAt: null, leaseUntil: NOW + 1, updatedAt: NOW - 900_000 });
    expect(codes({ instance: busy })).toEqual(['NO_BLOCKER_FOUND']);
  });

  it('an answer that is early for its gate is no lost signal [HI-6]', () => {
    const inbox = [signal('custom:human_input:ask', NOW - 900_000)];
    expect(codes({ inbox })).toEqual(['NO_BLOCKER_FOUND']);
    const leaves = [standing({ reason: 'input', gate })];
    expect(codes({ inbox, leaves })).toContain('SIGNALS_NOT_CONSUMED');
  });

  it('the end of a child on its way is no inconsistency', () => {
    const leaves = [standing({ reason: 'child', childId: 'c-1' })];
    const fact = { kind: 'child', childId: 'c-1', blockId: 'ask', state: 'completed', error: null } as const;
    const inbox = [{ seq: 1, id: 'f', acceptedAt: NOW, fact }];
    const near = surroundings({ children: [{ id: 'c-1', state: 'completed' }] });
    expect(codes({ instance: waiting, leaves, inbox, surroundings: near })).not.toContain(
      'CHILDREN_DONE_PARENT_WAITING',
    );
  });

  it('what could not be read is not concluded from', () => {
    const given = { instance: waiting, tasks: [task()], surroundings: null };
    expect(codes(given)).toEqual(['WAITING_EXTERNAL_EVENT', 'EVIDENCE_INCOMPLETE']);
  });
});
