import { type Engine, type EngineSettings, createEngine } from '../../../src/engine/engine.ts';
import { builtInHandlers } from '../../../src/engine/handlers/built-in.ts';
import { createHandlerRegistry } from '../../../src/engine/handlers/registry.ts';
import type { UseCaseDeps } from '../../../src/engine/use-case.ts';
import { plainSeal } from '../../../src/adapters/seal.ts';
import type { HttpEffects } from '../../../src/ports/effects.ts';
import type { Hints } from '../../../src/ports/hints.ts';
import type { Store } from '../../../src/ports/store/store.ts';
import type { Entropy, Log } from '../../../src/ports/system.ts';
import { type CallLog, type FaultPlan, faultStore } from './fault-store.ts';
import { type Ledger, type Script, scriptedHandlers, toldHandlers } from './ledger.ts';
import { ProcessGate } from './process-gate.ts';
import type { VirtualTime } from './virtual-time.ts';

/** One process of the simulated world, with everything that lives and dies with it. */
export interface EngineProcess {
  readonly name: string;
  readonly gate: ProcessGate;
  readonly engine: Engine;
  readonly store: Store;
  readonly useCases: UseCaseDeps;
  /** Lines of the log, most of them warnings. */
  readonly logged: string[];
  crash(): void;
  /** Nothing of the process happens for so long; then it goes on with what it believes. */
  freeze(forMs: number): void;
}

export const LEASE_MS = 60_000;
export const SWEEP_MS = 10_000;

export const standardSettings: Omit<EngineSettings, 'leaseOwner'> = {
  leaseMs: LEASE_MS,
  tickMs: null,
  sweepMs: SWEEP_MS,
  batchSize: 256,
  maxTurns: 1000,
  maxConcurrentSteps: 128,
  maxInstancesPerTenant: 0,
  maxStepsPerTurn: 0,
  maxRecoveries: 3,
  maxContextBytes: 262_144,
  maxOutputBytes: 1_048_576,
  silentTaskMs: 60_000,
  inPlaceWaitMs: 100,
};

export interface ProcessParts {
  readonly time: VirtualTime;
  readonly store: Store;
  readonly calls: CallLog;
  readonly faults: FaultPlan;
  readonly scripts: Readonly<Record<string, Script>>;
  readonly ledger: Ledger;
  /** Replaces the hints inside the process. */
  readonly hints: Hints | null;
  readonly settings: Partial<EngineSettings>;
  readonly skewMs: number;
  /** What the outside answers to requests; default: there is no network. */
  readonly effects?: HttpEffects;
  /** The way of webhooks to the outside; absent: none are sent. */
  readonly webhookClient?: HttpEffects;
}

export function createProcess(name: string, parts: ProcessParts): EngineProcess {
  const gate = new ProcessGate(parts.time, name, parts.skewMs);
  const store = faultStore(parts.store, gate, parts.calls, parts.faults);
  const logged: string[] = [];
  const entropy = numberedEntropy(name);
  const handlers = createHandlerRegistry(
    toldHandlers(builtInHandlers({ effects: parts.effects ?? noNetwork, entropy }), parts.ledger),
    scriptedHandlers(parts.scripts, parts.ledger, gate),
  );
  if (!handlers.ok) throw new Error(handlers.error.join('; '));
  const engine = createEngine(
    {
      store,
      handlers: handlers.value,
      clock: gate.clock,
      entropy,
      log: logInto(logged),
      seal: plainSeal,
      ...(parts.webhookClient === undefined ? {} : { webhookClient: parts.webhookClient }),
      ...(parts.hints === null ? {} : { hints: parts.hints }),
    },
    { ...standardSettings, ...parts.settings, leaseOwner: name },
  );
  const { deps, runner } = engine;
  return {
    name,
    gate,
    engine,
    store,
    logged,
    useCases: { ...deps, runner, limits: deps.limits, handlerNames: handlers.value.names },
    crash: () => gate.crash(),
    freeze: (forMs) => gate.freeze(forMs),
  };
}

const noNetwork = {
  send: () => Promise.resolve({ ok: false as const, reason: 'blocked' as const, message: 'no network here' }),
};

/** Bytes that differ between processes and calls, and are the same in each run of a test. */
function numberedEntropy(seed: string): Entropy {
  let state = Array.from(seed).reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  return {
    bytes: (length) =>
      new Uint8Array(length).map(() => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return state >>> 24;
      }),
  };
}

function logInto(lines: string[]): Log {
  const at = (level: string) => (message: string, fields?: object) => {
    if (level !== 'debug') lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
