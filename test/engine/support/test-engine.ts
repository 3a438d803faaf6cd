import { createMemoryStore } from '../../../src/adapters/memory/store.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { DEFAULT_BREAKER_RULE } from '../../../src/core/run/limits/takes.ts';
import { isTerminal } from '../../../src/core/run/states.ts';
import type { EngineSettings } from '../../../src/engine/engine.ts';
import { publishSequence } from '../../../src/engine/publish-sequence.ts';
import type { Operation, OperationAnswer } from '../../../src/engine/runner.ts';
import { newInstance, startNow } from '../../../src/engine/start-instances.ts';
import { nudgeAccepted } from '../../../src/engine/use-case.ts';
import type { HttpEffects } from '../../../src/ports/effects.ts';
import type { Hints } from '../../../src/ports/hints.ts';
import type { SignalAnswer, WorkerTask } from '../../../src/ports/store/accept.ts';
import type { InstanceView } from '../../../src/ports/store/reads.ts';
import type { Store } from '../../../src/ports/store/store.ts';
import type { TaskOutcome, TurnCommit } from '../../../src/ports/store/turn.ts';
import { type EngineProcess, createProcess } from './engine-process.ts';
import { type CallLog, type FaultPlan, noFaults } from './fault-store.ts';
import { Ledger, type Script } from './ledger.ts';
import { VirtualTime } from './virtual-time.ts';

export const TENANT = 'saltmarsh';
/** 2027-02-11T08:00:00Z. */
export const START_AT = 1_802_332_800_000;

export interface TestEngineOptions {
  readonly scripts?: Readonly<Record<string, Script>>;
  readonly faults?: FaultPlan;
  readonly settings?: Partial<EngineSettings>;
  /** Another store than the one in memory; `advance` moves its clock. */
  readonly store?: { readonly store: Store; readonly advance: (ms: number) => Promise<void> };
  /** What the outside answers to requests of handlers; default: there is no network. */
  readonly effects?: HttpEffects;
  /** The way of webhooks to the outside; absent: none are sent. */
  readonly webhookClient?: HttpEffects;
  /** Hints of a process; null for those inside the process. */
  readonly hints?: (world: TestEngine) => Hints | null;
}

export interface ProcessOptions {
  readonly settings?: Partial<EngineSettings>;
  readonly skewMs?: number;
  /** Handlers of this process; default: those of the world. */
  readonly scripts?: Readonly<Record<string, Script>>;
  /** False for one that no client reaches. */
  readonly serves?: boolean;
}

/** A world with one store, any number of engine processes and a clock that jumps. */
export class TestEngine {
  readonly time: VirtualTime;
  /** As people and workers reach it: nothing goes wrong. */
  readonly store: Store;
  readonly ledger = new Ledger();
  readonly calls: CallLog = { calls: [] };
  readonly processes: EngineProcess[] = [];
  readonly scripts: Record<string, Script>;
  faults: FaultPlan;
  private readonly options: TestEngineOptions;
  private readonly unreachable = new Set<string>();
  private ids = 0;

  constructor(options: TestEngineOptions = {}) {
    this.options = options;
    this.time = new VirtualTime(START_AT, options.store?.advance);
    this.store = options.store?.store ?? createMemoryStore({ now: () => this.time.now });
    this.scripts = { ...options.scripts };
    this.faults = options.faults ?? noFaults;
  }

  protected get settings(): Partial<EngineSettings> {
    return this.options.settings ?? {};
  }

  /** Starts a process with its loop. */
  boot(options: ProcessOptions = {}): EngineProcess {
    const process = this.idle(options);
    process.engine.loop.start();
    return process;
  }

  /** A process whose loop does not run: it does only what it is told. */
  idle(options: ProcessOptions = {}): EngineProcess {
    const process = createProcess(`process-${this.processes.length + 1}`, {
      time: this.time,
      store: this.store,
      calls: this.calls,
      faults: { decide: (call) => this.faults.decide(call), onCrash: (name) => this.faults.onCrash(name) },
      scripts: options.scripts ?? this.scripts,
      ledger: this.ledger,
      hints: this.options.hints?.(this) ?? null,
      settings: { ...this.options.settings, ...options.settings },
      skewMs: options.skewMs ?? 0,
      ...(this.options.effects === undefined ? {} : { effects: this.options.effects }),
      ...(this.options.webhookClient === undefined ? {} : { webhookClient: this.options.webhookClient }),
    });
    this.processes.push(process);
    if (options.serves === false) this.unreachable.add(process.name);
    return process;
  }

  /** The first process that can be talked to. */
  get live(): EngineProcess | undefined {
    return this.processes.find(
      ({ gate, name }) => gate.isAlive && !gate.isFrozen && !this.unreachable.has(name),
    );
  }

  /** Publishes a version with these blocks and answers its id. */
  async publish(blocks: Json, members: JsonObject = {}): Promise<string> {
    const id = this.nextId();
    const document: JsonObject = {
      id,
      tenant_id: TENANT,
      namespace: 'fulfilment',
      name: `sequence-${this.ids}`,
      version: 1,
      created_at: '2027-02-01T09:00:00.000Z',
      blocks,
      ...members,
    };
    const { useCases } = createProcess('publisher', {
      ...{ time: this.time, store: this.store, calls: { calls: [] }, faults: noFaults, scripts: {} },
      ...{ ledger: this.ledger, hints: null, settings: {}, skewMs: 0 },
    });
    const published = await publishSequence(useCases, { tenantId: null, isAdmin: true }, document);
    if (!published.ok) throw new Error(published.error.message);
    return published.value.id;
  }

  /** Starts an instance in a process, as its API does. */
  async start(
    sequenceId: string,
    options: {
      readonly data?: Json;
      readonly on?: EngineProcess;
      readonly id?: string;
      readonly nextFireAt?: number;
      readonly priority?: number;
      readonly dryRun?: boolean;
      readonly dryRunAutoApprove?: boolean;
      readonly dryRunRealTime?: boolean;
      readonly concurrencyKey?: string;
      readonly budget?: JsonObject;
    } = {},
  ): Promise<string> {
    const process = options.on ?? this.live;
    if (process === undefined) throw new Error('no process is alive');
    const instance = {
      ...newInstance(process.useCases, {
        sequenceId,
        tenantId: TENANT,
        namespace: 'fulfilment',
        priority: options.priority ?? 1,
        timezone: 'UTC',
        metadata: {},
        context: { data: options.data ?? {}, config: {}, audit: [] },
        dryRun: options.dryRun ?? false,
        dryRunAutoApprove: options.dryRunAutoApprove ?? false,
        dryRunRealTime: options.dryRunRealTime ?? false,
        nextFireAt: options.nextFireAt ?? null,
        concurrencyKey: options.concurrencyKey ?? null,
        maxConcurrency: options.concurrencyKey === undefined ? null : 1,
        idempotencyKey: null,
        sessionId: null,
        budget: options.budget ?? null,
      }),
      id: options.id ?? this.nextId(),
    };
    const answer = await startNow(process.useCases, { instances: [instance], onKnownKey: 'first' });
    if (answer.status !== 'ok') throw new Error(`the start was answered with ${answer.status}`);
    return instance.id;
  }

  /** Sends a signal and lets a live process look at the instance, as the API does. */
  async signal(
    instanceId: string,
    signalType: string,
    payload: Json = null,
    options: { readonly signalId?: string; readonly nudge?: boolean } = {},
  ): Promise<SignalAnswer> {
    const signalId = options.signalId ?? this.nextId();
    const answer = await this.store.signal({ tenantId: TENANT, instanceId, signalId, signalType, payload });
    if (options.nudge !== false) this.look(instanceId);
    return answer;
  }

  /** Takes one pending task of a handler; null when there is none. */
  async poll(handlerName: string, workerId = 'worker-1'): Promise<WorkerTask | null> {
    const tasks = await this.store.pollTasks({
      ...{ tenantId: TENANT, handlerName, workerId, version: null, limit: 1 },
    });
    return tasks[0] ?? null;
  }

  /** Reports a worker's result and lets a live process look at the instance, as the API does. */
  async report(task: WorkerTask, outcome: TaskOutcome, nudge = true): Promise<string> {
    const answer = await this.store.reportTask({
      tenantId: TENANT,
      taskId: task.id,
      workerId: task.workerId ?? '',
      claimEpoch: task.claimEpoch,
      factId: this.nextId(),
      outcome,
      breaker: DEFAULT_BREAKER_RULE,
      logs: [],
    });
    if (nudge && answer.status === 'accepted') this.look(answer.instanceId);
    return answer.status;
  }

  operate(instanceId: string, operation: Operation, on = this.live): Promise<OperationAnswer> {
    if (on === undefined) throw new Error('no process is alive');
    return on.engine.runner.operate({ tenantId: TENANT, instanceId }, operation);
  }

  /** Lets time pass until the answer is there. */
  async answered<T>(work: Promise<T>, withinMs = 10_000): Promise<T> {
    let done = false;
    const settled = (): void => {
      done = true;
    };
    work.then(settled, settled);
    if (!(await this.time.until(() => done, withinMs))) throw new Error('there is no answer');
    return work;
  }

  async view(instanceId: string): Promise<InstanceView> {
    const view = await this.store.getInstance(TENANT, instanceId);
    if (view === null) throw new Error(`there is no instance ${instanceId}`);
    return view;
  }

  /** Lets time pass until the instance is in this state. */
  async untilState(instanceId: string, state: string, withinMs = 600_000): Promise<InstanceView> {
    const reached = await this.time.until(
      async () => (await this.view(instanceId)).state === state,
      withinMs,
    );
    const view = await this.view(instanceId);
    if (!reached) throw new Error(`${instanceId} is ${view.state}, not ${state}\n${this.log().join('\n')}`);
    return view;
  }

  /** Lets time pass until the instance has ended and nobody holds it any more. */
  async untilEnded(instanceId: string, withinMs = 600_000): Promise<InstanceView> {
    const ended = await this.time.until(
      async () => isTerminal((await this.view(instanceId)).state),
      withinMs,
    );
    const view = await this.view(instanceId);
    if (!ended) throw new Error(`${instanceId} is still ${view.state}\n${this.log().join('\n')}`);
    return view;
  }

  /** Visible rows, as `block` or `block@iteration` to output. */
  async outputs(instanceId: string): Promise<Readonly<Record<string, Json>>> {
    const rows = (await this.store.listOutputs(TENANT, instanceId, { node: false, retry: false })) ?? [];
    return Object.fromEntries(
      rows.map((row) => [row.iteration === '' ? row.blockId : `${row.blockId}@${row.iteration}`, row.output]),
    );
  }

  /** What the turns of an instance have sent to be committed, repeats and refused ones included. */
  sentCommits(instanceId: string): readonly TurnCommit[] {
    return this.calls.calls
      .filter(({ operation }) => operation === 'commit')
      .flatMap(({ args }) => args[0] as readonly TurnCommit[])
      .filter((turn) => turn.instanceId === instanceId);
  }

  /** How often an operation was called. */
  countCalls(operation: keyof Store): number {
    return this.calls.calls.filter((call) => call.operation === operation).length;
  }

  log(): string[] {
    return this.processes.flatMap(({ name, logged }) => logged.map((line) => `${name}: ${line}`));
  }

  nextId(): string {
    this.ids += 1;
    return `01800000-0000-7000-8000-${this.ids.toString(16).padStart(12, '0')}`;
  }

  /** Lets a live process look at the instance, as the API does after a fact. */
  look(instanceId: string): void {
    const process = this.live;
    if (process !== undefined) void nudgeAccepted(process.useCases, { tenantId: TENANT, instanceId });
  }
}
