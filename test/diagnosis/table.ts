import type { DiagnosisFacts } from '../../src/core/diagnosis/facts.ts';
import type { DiagnosisCode } from '../../src/core/diagnosis/finding.ts';
import { ID, instance, NOW, signal, standing, surroundings, task } from './facts.ts';

export const gate = {
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

export const open = {
  handler: 'parcel_lookup',
  openedAt: NOW - 48_000,
  cooldownMs: 60_000,
  failureCount: 5,
} as const;
export const alive = [{ handler: 'parcel_lookup', versions: ['1.9.4', null] }];
export const waiting = instance({ state: 'waiting', dueAt: null, updatedAt: NOW - 5000 });

/** Each row of the table of 7.1: what is so, and category, confidence, health, severity, remediations. */
export type Row = readonly [
  DiagnosisCode,
  string,
  Partial<DiagnosisFacts>,
  readonly [string, string, string, string],
  ReadonlyArray<{ readonly command?: string; readonly risk: boolean; readonly action?: string }>,
];

export const TABLE: readonly Row[] = [
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
];
