import type { Frame, Gate, Leaf } from '../../src/core/run/frame.ts';
import type { NewRow } from '../../src/core/run/output-row.ts';
import type { NewInstance } from '../../src/ports/store/accept.ts';
import type { NewSequence, NewTrigger } from '../../src/ports/store/catalog.ts';
import type {
  AuditEntry,
  Claim,
  FrameWrite,
  NewChild,
  NewTask,
  Settle,
  TurnCommit,
} from '../../src/ports/store/turn.ts';

/**
 * Payloads for the store with everything filled in, so that a test names only what it is about. Ids count up, so later
 * ones are greater; they are UUIDs of version 7 and never repeat within a process.
 */
let count = 0;

export function nextId(): string {
  count += 1;
  return `01900000-0000-7000-8000-${count.toString(16).padStart(12, '0')}`;
}

export const TENANT = 'saltmarsh';

export function newInstance(overrides: Partial<NewInstance> = {}): NewInstance {
  const data = overrides.data ?? {};
  return {
    id: nextId(),
    runId: nextId(),
    tenantId: TENANT,
    namespace: 'fulfilment',
    sequenceId: '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44',
    priority: 1,
    timezone: 'UTC',
    metadata: {},
    data,
    config: {},
    audit: [],
    nextFireAt: null,
    concurrencyKey: null,
    maxConcurrency: null,
    idempotencyKey: null,
    sessionId: null,
    budget: null,
    dryRun: false,
    dryRunAutoApprove: false,
    originalInput: data,
    ...overrides,
  };
}

/** A commit of the turn that this claim began. It changes nothing but rev. */
export function turnOf(claim: Claim, overrides: Partial<TurnCommit> = {}): TurnCommit {
  return {
    tenantId: claim.tenantId,
    instanceId: claim.instanceId,
    epoch: claim.epoch,
    leaseToken: claim.leaseToken,
    rev: claim.instance.rev,
    runNo: claim.instance.runNo,
    seenSeq: Math.max(0, ...claim.inbox.map(({ seq }) => seq)),
    strict: false,
    protectedResult: false,
    hasResult: false,
    stepsDelta: 0,
    rows: [],
    supersede: [],
    frames: [],
    framesDeleted: [],
    inboxDone: [],
    instance: {},
    kv: [],
    values: [],
    tasksCreated: [],
    tasksClosed: [],
    childrenStarted: [],
    childrenCancelled: [],
    audit: [],
    journal: [],
    logs: [],
    outcomes: [],
    settle: null,
    ...overrides,
  };
}

/** All that the claim was given, as consumed without effect. */
export function allDone(claim: Claim): TurnCommit['inboxDone'] {
  return claim.inbox.map(({ seq }) => ({ seq, disposition: 'no_effect' as const }));
}

export function settleAs(state: Settle['state'], overrides: Partial<Settle> = {}): Settle {
  return { state, nextFireAt: null, dueAt: null, openWaits: 0, failure: null, ...overrides };
}

export function row(overrides: Partial<NewRow> = {}): NewRow {
  return {
    id: nextId(),
    blockId: 'lookup',
    iteration: '',
    kind: 'result',
    attempt: 0,
    output: { value_cents: 4100 },
    startedAt: null,
    ...overrides,
  };
}

export function leaf(overrides: Partial<Leaf> = {}): Leaf {
  return {
    state: 'running',
    reason: null,
    wakeAt: null,
    attempt: 0,
    startedAt: 1_000,
    dispatchedAt: null,
    redeliveries: 0,
    passed: { when: true, delay: true, gate: true },
    gate: null,
    taskId: null,
    childId: null,
    childEnd: null,
    keyRunId: null,
    error: null,
    ...overrides,
  };
}

/** A leaf that only something outside can move. */
export function waitingLeaf(
  reason: 'worker' | 'input' | 'child' | 'event',
  overrides: Partial<Leaf> = {},
): Leaf {
  return leaf({ state: 'waiting', reason, ...overrides });
}

export function frame(overrides: Partial<Frame> = {}): Frame {
  return {
    blockId: '',
    branch: null,
    iteration: '',
    cursor: 0,
    leaf: null,
    detail: { kind: 'root' },
    state: 'open',
    startedAt: 1_000,
    ...overrides,
  };
}

/** The write of a frame without an intent. */
export function write(written: Frame): FrameWrite {
  return { frame: written, intent: null };
}

export function gate(overrides: Partial<Gate> = {}): Gate {
  return {
    openedAt: 1_000,
    prompt: 'Refund this parcel?',
    choices: [
      { label: 'Yes', value: 'yes' },
      { label: 'No', value: 'no' },
    ],
    storeAs: 'ask',
    allowComment: false,
    timeoutMs: null,
    escalationHandler: null,
    kind: 'choice',
    ...overrides,
  };
}

export function task(overrides: Partial<NewTask> = {}): NewTask {
  return {
    id: nextId(),
    blockId: 'lookup',
    iteration: '',
    handlerName: 'parcel_lookup',
    queueName: null,
    params: { no: 'PX-9004' },
    context: { data: {}, config: {}, audit: [], runtime: { attempt: 0 } },
    attempt: 0,
    timeoutMs: null,
    idempotencyKey: 'key-of-the-attempt',
    previousTaskId: null,
    ...overrides,
  };
}

export function child(overrides: Partial<NewChild> = {}): NewChild {
  return {
    id: nextId(),
    runId: nextId(),
    sequenceId: '7d1c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d55',
    blockId: 'inner',
    iteration: '',
    entry: 0,
    data: {},
    metadata: { _parent_block_id: 'inner', _sub_sequence_depth: 1 },
    ...overrides,
  };
}

export function auditEntry(fromState: AuditEntry['fromState'], toState: AuditEntry['toState']): AuditEntry {
  return { id: nextId(), fromState, toState, blockId: null, details: {} };
}

export function sequence(overrides: Partial<NewSequence> = {}): NewSequence {
  return {
    id: nextId(),
    tenantId: TENANT,
    namespace: 'fulfilment',
    name: 'parcel-return',
    version: 1,
    status: 'production',
    deprecated: false,
    definition: { blocks: [] },
    contentHash: 'a'.repeat(64),
    ...overrides,
  };
}

export function trigger(overrides: Partial<NewTrigger> = {}): NewTrigger {
  return {
    slug: 'orders',
    tenantId: TENANT,
    namespace: 'fulfilment',
    sequenceName: 'parcel-return',
    version: null,
    enabled: true,
    secret: null,
    triggerType: 'webhook',
    config: null,
    ...overrides,
  };
}
