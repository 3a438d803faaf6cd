import { isReservedStateKey } from '../core/run/knowledge.ts';
import type { StepServices } from '../ports/step-services.ts';
import type { ContextView, StateReader, StepCall, StepGate, StepLog } from '../ports/step-handler.ts';
import type { Json } from '../core/json.ts';
import type { HandlerCall } from './handler-call.ts';
import { stepServices } from './step-services.ts';
import type { TurnDeps } from './turn-deps.ts';

/** Longer lines of the step log are cut. */
const LINE_CHARS = 8192;

/**
 * What a handler is given. One is made for each attempt and most handlers look at few of its parts, so what would have to
 * be made for it is made when it is asked for.
 */
export class GivenCall implements StepCall {
  readonly instanceId: string;
  readonly tenantId: string;
  readonly namespace: string;
  readonly blockId: string;
  readonly attempt: number;
  readonly iteration: string;
  readonly params: Json;
  readonly outputs: ReadonlyMap<string, Json>;
  readonly idempotencyKey: string;
  readonly redelivery: boolean;
  readonly dryRun: boolean;
  readonly nowMs: number;
  readonly gate: StepGate | null;
  private readonly deps: TurnDeps;
  private readonly call: HandlerCall;
  private readonly deadlineMs: number;

  /** `deadlineMs`: when it is cut off, on the monotonic clock; infinite for never. */
  constructor(deps: TurnDeps, call: HandlerCall, deadlineMs: number) {
    const { dispatch, record } = call;
    this.instanceId = record.id;
    this.tenantId = record.tenantId;
    this.namespace = record.namespace;
    this.blockId = dispatch.blockId;
    this.attempt = dispatch.attempt;
    this.iteration = dispatch.iteration;
    this.params = dispatch.params;
    this.outputs = call.outputs;
    this.idempotencyKey = dispatch.idempotencyKey;
    this.redelivery = dispatch.redelivery;
    this.dryRun = record.dryRun;
    this.nowMs = call.nowMs;
    this.gate = call.gate ?? null;
    this.deps = deps;
    this.call = call;
    this.deadlineMs = deadlineMs;
  }

  get attemptKey(): string {
    return `${this.idempotencyKey}:${this.attempt}`;
  }

  get context(): ContextView {
    return this.call.dispatch.context();
  }

  get signal(): AbortSignal {
    return this.call.controller.signal;
  }

  get remainingTimeMs(): () => number {
    return () => Math.max(0, this.deadlineMs - this.deps.clock.monotonicMs());
  }

  get state(): StateReader {
    const { readState, countState } = this.call;
    return {
      get: async (name) => (isReservedStateKey(name) ? undefined : readState(name)),
      count: countState,
    };
  }

  get log(): StepLog {
    const { blockId, instanceId, nowMs } = this;
    return (level, message) => {
      const line = message.slice(0, LINE_CHARS);
      this.call.addLog({ blockId, at: nowMs, level, message: line });
      this.deps.log[level](line, { instance_id: instanceId, block_id: blockId });
    };
  }

  get services(): StepServices {
    const { record, dispatch, mayWait } = this.call;
    return stepServices(this.deps, record, dispatch, mayWait ?? (() => false));
  }
}
