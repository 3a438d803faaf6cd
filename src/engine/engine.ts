import type { Hints } from '../ports/hints.ts';
import { createTurnDeps, type TurnParts, type TurnSettings } from './create-turn-deps.ts';
import { type LocalRunner, createLocalRunner } from './local-runner.ts';
import { ResidentLoop, createLocalHints } from './resident-loop.ts';
import type { TurnDeps } from './turn-deps.ts';
import { withPokes } from './webhooks/queued-webhooks.ts';

export interface EngineParts extends Omit<TurnParts, 'hints'> {
  /** Where hints go; by default this process looks at the instances itself. */
  readonly hints?: Hints;
}

/** Durations in ms; the defaults of http-api.md 30 and RULINGS B4 to B6 are the settings' business. */
export interface EngineSettings extends TurnSettings {
  readonly leaseOwner: string;
  readonly leaseMs: number;
  /** Looks for the work of other processes; null where this process has the database for itself. */
  readonly tickMs: number | null;
  readonly sweepMs: number;
  readonly batchSize: number;
  readonly maxTurns: number;
  readonly maxInstancesPerTenant: number;
  readonly silentTaskMs: number;
}

/** The engine of a process that lives on: its turns, and the loop that finds work for them. */
export interface Engine {
  readonly deps: TurnDeps;
  readonly runner: LocalRunner;
  readonly loop: ResidentLoop;
}

export function createEngine(parts: EngineParts, settings: EngineSettings): Engine {
  // Hints and the runner know each other: a commit hints at instances that the runner then looks at.
  const self: { runner: LocalRunner | null; loop: ResidentLoop | null } = { runner: null, loop: null };
  const hints =
    parts.hints ??
    createLocalHints(
      () => self.runner,
      () => self.loop,
    );
  const deps = withPokes(createTurnDeps({ ...parts, hints }, settings));
  const runner = createLocalRunner(deps, settings);
  self.runner = runner;
  const loop = new ResidentLoop(deps, runner, {
    ...settings,
    perTenantLimit: settings.maxInstancesPerTenant,
  });
  self.loop = loop;
  return { deps, runner, loop };
}
