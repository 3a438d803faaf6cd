import type { HintQueue } from '../ports/queue.ts';
import { createTurnDeps, type TurnParts, type TurnSettings } from './create-turn-deps.ts';
import type { EngineMemory } from './engine-memory.ts';
import type { TurnDeps } from './turn-deps.ts';

export interface FunctionEngineParts extends Omit<TurnParts, 'hints'> {
  readonly queue: HintQueue;
}

/** Durations in ms. */
export interface FunctionEngineSettings extends TurnSettings {
  /** Shown as the holder of leases. */
  readonly leaseOwner: string;
  /** Least length of a lease; null: the time limit of the invocation + 30 s (RULINGS B4). */
  readonly leaseMs: number | null;
  /** Turns at once in one invocation. */
  readonly maxTurns: number;
  readonly maxInstancesPerTenant: number;
  readonly silentTaskMs: number;
  /** How far a sweep hints at what falls due; default: until the sweep of the next minute. */
  readonly hintedAheadMs?: number;
}

/**
 * The engine of a function host: it keeps definitions and connections between invocations, and no work. Whatever runs,
 * runs within an invocation (invocation.ts); what is left goes to the queue, and the sweep finds what the queue lost.
 */
export interface FunctionEngine {
  readonly deps: TurnDeps;
  readonly queue: HintQueue;
  readonly settings: FunctionEngineSettings;
}

export function createFunctionEngine(
  { queue, ...parts }: FunctionEngineParts,
  settings: FunctionEngineSettings,
  memory?: EngineMemory,
): FunctionEngine {
  return { deps: createTurnDeps({ ...parts, hints: queue }, settings, memory), queue, settings };
}

/** What a lease lasts beyond the time limit of the function: the commit of a turn that is just being ended. */
const LEASE_BEYOND_MS = 30_000;

/** The length of the leases of an invocation (RULINGS B4): nothing renews them. */
export function leaseMsOf(
  { leaseMs }: Pick<FunctionEngineSettings, 'leaseMs'>,
  invocationMs: number,
): number {
  return Math.max(leaseMs ?? 0, Math.ceil(invocationMs) + LEASE_BEYOND_MS);
}
