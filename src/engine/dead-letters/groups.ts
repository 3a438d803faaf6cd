import { redactedExcerpt } from '../../core/redaction.ts';
import type { Fingerprint } from '../../core/dead-letters/fingerprint.ts';
import type { UseCaseDeps } from '../use-case.ts';
import { type FailedRun, listFailedRuns } from './failed-runs.ts';

/** Failed instances that are looked at for groups. */
const LOOKED_AT = 500;
const SAMPLES_MAX = 10;

/** Failures with one fingerprint (http-api.md 9). */
export interface DeadLetterGroup extends Fingerprint {
  readonly sampleMessage: string;
  readonly count: number;
  readonly firstOccurrence: number;
  readonly lastOccurrence: number;
  readonly sequences: readonly string[];
  readonly blocks: readonly string[];
  readonly handlers: readonly string[];
  /** The newest ten. */
  readonly sampleInstanceIds: readonly string[];
}

export interface GroupQuery {
  readonly tenantId: string | null;
  readonly sequenceId: string | null;
}

/** The newest failed instances by fingerprint; the largest group first, then the one that occurred last. */
export async function listDeadLetterGroups(
  deps: UseCaseDeps,
  query: GroupQuery,
): Promise<readonly DeadLetterGroup[]> {
  const groups = (await groupedRuns(deps, query)).values();
  return [...groups]
    .map(groupOf)
    .toSorted((left, right) => right.count - left.count || right.lastOccurrence - left.lastOccurrence);
}

/** The newest failed instances by fingerprint, newest first within each. */
export async function groupedRuns(
  deps: UseCaseDeps,
  query: GroupQuery,
): Promise<ReadonlyMap<string, readonly FailedRun[]>> {
  const groups = new Map<string, FailedRun[]>();
  for (const run of await listFailedRuns(deps, query, LOOKED_AT)) {
    const { fingerprint } = run.fingerprint;
    groups.set(fingerprint, [...(groups.get(fingerprint) ?? []), run]);
  }
  return groups;
}

function groupOf(runs: readonly FailedRun[]): DeadLetterGroup {
  const [newest] = runs;
  if (newest === undefined) throw new Error('a group has at least one member');
  const times = runs.map(({ failedAt }) => failedAt);
  return {
    ...newest.fingerprint,
    sampleMessage: redactedExcerpt(newest.message),
    count: runs.length,
    firstOccurrence: Math.min(...times),
    lastOccurrence: Math.max(...times),
    sequences: distinct(runs.map(({ sequenceName }) => sequenceName)),
    blocks: distinct(runs.map(({ blockId }) => blockId)),
    handlers: distinct(runs.map(({ handler }) => handler)),
    sampleInstanceIds: runs.slice(0, SAMPLES_MAX).map(({ id }) => id),
  };
}

function distinct(names: readonly (string | null)[]): readonly string[] {
  return [...new Set(names.flatMap((name) => (name === null || name === '' ? [] : [name])))].toSorted();
}
