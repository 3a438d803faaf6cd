import type { Hints } from '../ports/hints.ts';
import type { Store } from '../ports/store/store.ts';
import type { Clock, Entropy, Log } from '../ports/system.ts';
import { createCommitter } from './committer.ts';
import { createDefinitions } from './definitions.ts';
import type { HandlerRegistry } from './handlers/registry.ts';
import { createIdSource } from './ids.ts';
import { type LocalRunner, createLocalRunner } from './local-runner.ts';
import { ResidentLoop, createLocalHints } from './resident-loop.ts';
import { type TurnDeps, createStepSlots } from './turn-deps.ts';

export interface EngineParts {
  readonly store: Store;
  readonly handlers: HandlerRegistry;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Where hints go; by default this process looks at the instances itself. */
  readonly hints?: Hints;
}

/** Durations in ms; the defaults of http-api.md 30 and RULINGS B4 to B6 are the settings' business. */
export interface EngineSettings {
  readonly leaseOwner: string;
  readonly leaseMs: number;
  /** Looks for the work of other processes; null where this process has the database for itself. */
  readonly tickMs: number | null;
  readonly sweepMs: number;
  readonly batchSize: number;
  readonly maxTurns: number;
  readonly maxConcurrentSteps: number;
  readonly maxInstancesPerTenant: number;
  readonly maxStepsPerTurn: number;
  readonly maxRecoveries: number;
  readonly maxContextBytes: number;
  readonly maxOutputBytes: number;
  readonly silentTaskMs: number;
  readonly inPlaceWaitMs: number;
}

/** The engine of a process that lives on: its turns, and the loop that finds work for them. */
export interface Engine {
  readonly deps: TurnDeps;
  readonly runner: LocalRunner;
  readonly loop: ResidentLoop;
}

export function createEngine(parts: EngineParts, settings: EngineSettings): Engine {
  const { store, clock, log } = parts;
  // Hints and the runner know each other: a commit hints at instances that the runner then looks at.
  const self: { runner: LocalRunner | null; loop: ResidentLoop | null } = { runner: null, loop: null };
  const deps: TurnDeps = {
    ...parts,
    committer: createCommitter(store, clock, log),
    definitions: createDefinitions(store),
    hints:
      parts.hints ??
      createLocalHints(
        () => self.runner,
        () => self.loop,
      ),
    ids: createIdSource(clock, parts.entropy),
    steps: createStepSlots(settings.maxConcurrentSteps),
    limits: {
      maxContextBytes: settings.maxContextBytes,
      maxOutputBytes: settings.maxOutputBytes,
      maxStepsPerTurn: settings.maxStepsPerTurn,
      maxRecoveries: settings.maxRecoveries,
      inPlaceWaitMs: settings.inPlaceWaitMs,
      remainingTimeMs: null,
    },
  };
  const runner = createLocalRunner(deps, settings);
  self.runner = runner;
  const loop = new ResidentLoop(deps, runner, {
    ...settings,
    perTenantLimit: settings.maxInstancesPerTenant,
  });
  self.loop = loop;
  return { deps, runner, loop };
}
