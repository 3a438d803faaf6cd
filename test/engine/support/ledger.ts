import type { StepCall, StepHandler, StepOutcome } from '../../../src/ports/step-handler.ts';
import type { ProcessGate } from './process-gate.ts';

/** One call of a handler, as the outside world saw it. */
export interface LedgerEntry {
  readonly process: string;
  readonly handler: string;
  readonly instanceId: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly redelivery: boolean;
  readonly params: StepCall['params'];
  readonly at: number;
  /** null while the handler runs, or for ever when its process died. */
  endedAt: number | null;
  /** When the signal of the call fired. */
  abortedAt: number | null;
}

/** What a scripted handler does in one call. */
export interface Script {
  /** Virtual time that the call takes; 0 answers at once. */
  readonly takesMs?: number | ((call: StepCall, nth: number) => number);
  /** The effect happens when the call begins; `nth` counts the calls of this block and iteration from 0. */
  readonly outcome?: (call: StepCall, nth: number) => StepOutcome;
  /** Answers with a failure as soon as the signal fires. Without it the handler does not listen. */
  readonly listens?: boolean;
  readonly kind?: StepHandler['kind'];
  readonly defaults?: StepHandler['defaults'];
}

/** The outside world: every effect that ever happened, in order. */
export class Ledger {
  readonly entries: LedgerEntry[] = [];
  private readonly counts = new Map<string, number>();
  /** Told of every call when it begins. */
  onCall: (entry: LedgerEntry) => void = () => undefined;
  /** Told of every call of a built-in handler; these have no entry. */
  onBuiltIn: (call: StepCall) => void = () => undefined;

  of(blockId: string, instanceId?: string): readonly LedgerEntry[] {
    return this.entries.filter(
      (entry) => entry.blockId === blockId && (instanceId === undefined || entry.instanceId === instanceId),
    );
  }

  /** Calls of the same block in the same pass so far. */
  countOf(call: StepCall): number {
    return this.counts.get(keyOf(call)) ?? 0;
  }

  record(process: string, handler: string, call: StepCall, at: number): LedgerEntry {
    const { instanceId, blockId, iteration, attempt, idempotencyKey, redelivery, params } = call;
    const entry: LedgerEntry = {
      ...{
        process,
        handler,
        instanceId,
        blockId,
        iteration,
        attempt,
        idempotencyKey,
        redelivery,
        params,
        at,
      },
      endedAt: null,
      abortedAt: null,
    };
    this.entries.push(entry);
    this.counts.set(keyOf(call), this.countOf(call) + 1);
    this.onCall(entry);
    return entry;
  }
}

const keyOf = ({ instanceId, blockId, iteration }: StepCall): string =>
  JSON.stringify([instanceId, blockId, iteration]);

/** The handlers of one process, made from scripts that all processes share. */
export function scriptedHandlers(
  scripts: Readonly<Record<string, Script>>,
  ledger: Ledger,
  gate: ProcessGate,
): readonly StepHandler[] {
  return Object.entries(scripts).map(([name, script]) => ({
    name,
    kind: script.kind ?? 'effect',
    ...(script.defaults === undefined ? {} : { defaults: script.defaults }),
    run: (call) => runScript(name, script, call, ledger, gate),
  }));
}

/** The built-in handlers of one process, which the ledger is told of. */
export function toldHandlers(handlers: readonly StepHandler[], ledger: Ledger): readonly StepHandler[] {
  return handlers.map((handler) => ({
    ...handler,
    run: (call) => {
      ledger.onBuiltIn(call);
      return handler.run(call);
    },
  }));
}

async function runScript(
  name: string,
  script: Script,
  call: StepCall,
  ledger: Ledger,
  gate: ProcessGate,
): Promise<StepOutcome> {
  const nth = ledger.countOf(call);
  const entry = ledger.record(gate.name, name, call, gate.time.now);
  call.signal.addEventListener('abort', () => {
    entry.abortedAt ??= gate.time.now;
  });
  const outcome = script.outcome?.(call, nth) ?? {
    ok: true,
    output: { did: call.blockId, attempt: call.attempt },
  };
  const takesMs = typeof script.takesMs === 'function' ? script.takesMs(call, nth) : (script.takesMs ?? 0);
  if (takesMs > 0) await waitFor(gate, takesMs, script.listens === true ? call.signal : null);
  entry.endedAt = gate.time.now;
  if (script.listens === true && call.signal.aborted) {
    return { ok: false, failure: { message: 'stopped', retryable: true, code: 'ABORTED' } };
  }
  return outcome;
}

function waitFor(gate: ProcessGate, ms: number, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve) => {
    gate.clock.after(ms, resolve);
    signal?.addEventListener('abort', () => resolve());
  });
}
