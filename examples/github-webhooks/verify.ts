import type { Instance } from './engine-api.ts';
import type { LedgerEntry } from './ledger.ts';
import { type Delivery, surePathsOf } from './plan.ts';

/** A delivery and what came of it. */
export interface Run {
  readonly delivery: Delivery;
  readonly instanceId: string;
  /** Answer to the second sending of the same delivery; null when it was sent once. */
  readonly repeatId: string | null;
}

export interface Findings {
  /** What was promised and is not so; empty when all is well. */
  readonly violations: readonly string[];
  readonly completedCount: number;
  readonly effectCount: number;
  readonly callCount: number;
  /** Calls that found the work done already: their idempotency key saved the world from a second effect. */
  readonly savedCount: number;
}

/**
 * Checks what must hold however often the engine died: every run is completed, no delivery started two runs, exactly the
 * expected effects happened, each once and under exactly one idempotency key.
 */
export function verify(
  runs: readonly Run[],
  instances: readonly Instance[],
  ledger: readonly LedgerEntry[],
): Findings {
  const violations = [
    ...stateViolations(runs, instances),
    ...deliveryViolations(runs, instances),
    ...keyViolations(ledger),
    ...effectViolations(runs, ledger),
  ];
  return {
    violations,
    completedCount: instances.filter(({ state }) => state === 'completed').length,
    effectCount: ledger.filter(({ doneCount }) => doneCount > 0).length,
    callCount: ledger.reduce((sum, { callCount }) => sum + callCount, 0),
    savedCount: ledger.filter(({ callCount, doneCount }) => doneCount > 0 && callCount > doneCount).length,
  };
}

function stateViolations(runs: readonly Run[], instances: readonly Instance[]): readonly string[] {
  const states = new Map(instances.map(({ id, state }) => [id, state]));
  return runs
    .filter(({ instanceId }) => states.get(instanceId) !== 'completed')
    .map(({ instanceId }) => `run ${instanceId} is ${states.get(instanceId) ?? 'missing'}, not completed`);
}

function deliveryViolations(runs: readonly Run[], instances: readonly Instance[]): readonly string[] {
  const violations = runs
    .filter(({ instanceId, repeatId }) => repeatId !== null && repeatId !== instanceId)
    .map(({ instanceId, repeatId }) => `a repeated delivery of run ${instanceId} started run ${repeatId}`);
  if (instances.length !== runs.length) {
    violations.push(`${runs.length} deliveries started ${instances.length} runs`);
  }
  return violations;
}

function keyViolations(ledger: readonly LedgerEntry[]): readonly string[] {
  const effectOf = new Map<string, string>();
  return ledger.flatMap(({ effect, keys, doneCount }) => {
    const found: string[] = [];
    if (keys.length !== 1)
      found.push(`${effect} was asked for under ${keys.length} keys: ${keys.join(', ')}`);
    if (doneCount > 1) found.push(`${effect} was done ${doneCount} times`);
    for (const key of keys) {
      const other = effectOf.get(key);
      if (other !== undefined) found.push(`${effect} and ${other} share the key ${key}`);
      effectOf.set(key, effect);
    }
    return found;
  });
}

/** Compares the effects that the payloads call for with those that happened. */
function effectViolations(runs: readonly Run[], ledger: readonly LedgerEntry[]): readonly string[] {
  const done = new Set(ledger.filter(({ doneCount }) => doneCount > 0).map(({ effect }) => effect));
  const hopeless = new Set(ledger.filter((entry) => entry.hopeless).map(({ effect }) => effect));
  const expected = new Set(runs.flatMap((run) => expectedEffects(run, hopeless)));
  return [
    ...[...expected].filter((effect) => !done.has(effect)).map((effect) => `${effect} never happened`),
    ...[...done]
      .filter((effect) => !expected.has(effect))
      .map((effect) => `${effect} should not have happened`),
  ];
}

/** An issue gets its label, or goes to triage when the desk never does the labelling. */
function expectedEffects({ delivery, instanceId }: Run, hopeless: ReadonlySet<string>): readonly string[] {
  const sure = surePathsOf(delivery).map((path) => `${instanceId}/${path}`);
  if (delivery.route !== 'issue') return sure;
  return [...sure, `${instanceId}/${hopeless.has(`${instanceId}/labels`) ? 'triage' : 'labels'}`];
}
