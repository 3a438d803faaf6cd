import type { Injected, KvChange } from '../core/run/advance.ts';
import type { Dispatch } from '../core/run/draft.ts';
import type { Failure } from '../core/failure.ts';
import type { Json } from '../core/json.ts';
import type { StepLogLine } from '../core/run/changes.ts';
import type { Outside } from '../core/run/outside.ts';
import type { InstanceRecord } from '../core/run/record.ts';
import type { StepGate, StepHandler } from '../ports/step-handler.ts';
import type { CallAbort } from './call-abort.ts';

export interface HandlerCall {
  readonly dispatch: Dispatch;
  readonly handler: StepHandler;
  readonly record: InstanceRecord;
  readonly outputs: ReadonlyMap<string, Json>;
  readonly nowMs: number;
  readonly controller: CallAbort;
  /** Upper bound of the call in ms: what is left of the lease or of the invocation. */
  readonly leftMs: number;
  /** A key of the instance's store, writes of this turn included. */
  readonly readState: (key: string) => Promise<Json | undefined>;
  readonly countState: () => Promise<number>;
  readonly addLog: (line: StepLogLine) => void;
  readonly gate?: StepGate | null;
  /** How long what the handler reads is asked for again when the store does not answer; absent: not at all. */
  readonly mayWait?: () => boolean;
}

export type CallOutcome =
  | {
      readonly ok: true;
      readonly output: Json;
      readonly writes: readonly KvChange[];
      readonly outside?: Partial<Outside>;
      readonly injects?: Injected;
      readonly stub?: boolean;
      /** What an invoked `before_step` answered ([INT-5]). */
      readonly before?: { readonly output: Json };
    }
  | { readonly ok: false; readonly failure: Failure; readonly before?: { readonly output: Json } };
