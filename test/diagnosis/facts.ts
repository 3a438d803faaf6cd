import type {
  DiagnosedInstance,
  DiagnosedTask,
  DiagnosisFacts,
  StandingLeaf,
} from '../../src/core/diagnosis/facts.ts';
import type { Surroundings } from '../../src/core/diagnosis/surroundings.ts';
import type { InboxRow } from '../../src/core/run/record.ts';
import { leaf } from '../support/turn-builder.ts';

export const NOW = Date.parse('2027-02-11T09:00:00.000Z');
export const ID = '0192c1de-7b4e-7cc0-9a51-0d6f3b7f2a10';

export const instance = (over: Partial<DiagnosedInstance> = {}): DiagnosedInstance => ({
  id: ID,
  state: 'scheduled',
  sequenceId: '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44',
  metadata: {},
  nextFireAt: null,
  dueAt: NOW,
  updatedAt: NOW,
  leaseUntil: null,
  cancelRequestedAt: null,
  concurrencyKey: null,
  maxConcurrency: null,
  waitsForSlot: false,
  failure: null,
  ...over,
});

export const surroundings = (over: Partial<Surroundings> = {}): Surroundings => ({
  workers: [],
  pins: [],
  breakers: [],
  children: [],
  slots: null,
  rates: [],
  ...over,
});

export const facts = (over: Partial<DiagnosisFacts> = {}): DiagnosisFacts => ({
  now: NOW,
  instance: instance(),
  leaves: [],
  polls: [],
  tasks: [],
  inbox: [],
  sequence: 'there',
  surroundings: surroundings(),
  ...over,
});

/** A leaf of the step `ask` that waits. */
export const standing = (
  over: Parameters<typeof leaf>[0],
  step: Partial<StandingLeaf> = {},
): StandingLeaf => ({
  blockId: 'ask',
  iteration: '',
  leaf: leaf({ state: 'waiting', startedAt: NOW - 5000, ...over }),
  handler: 'mail_send',
  fallbackHandler: null,
  maxAttempts: 4,
  ...step,
});

export const task = (over: Partial<DiagnosedTask> = {}): DiagnosedTask => ({
  id: '0192c500-77aa-7b11-8d2e-1f2e3d4c5b6a',
  blockId: 'lookup',
  handlerName: 'parcel_lookup',
  queueName: null,
  state: 'pending',
  workerId: null,
  claimedAt: null,
  heartbeatAt: null,
  createdAt: NOW - 1000,
  ...over,
});

export const signal = (signalType: string, acceptedAt: number): InboxRow => ({
  seq: 1,
  id: '0192c1de-0000-7000-8000-000000000001',
  acceptedAt,
  fact: { kind: 'signal', signalType, payload: null },
});
