import { redactedExcerpt } from '../../core/redaction.ts';
import type { Fingerprint } from '../../core/dead-letters/fingerprint.ts';
import type { UseCaseDeps } from '../use-case.ts';
import { type DeadLetter, listDeadLetters } from './failed-runs.ts';

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
  const groups = (await groupedLetters(deps, query)).values();
  return [...groups]
    .map(groupOf)
    .toSorted((left, right) => right.count - left.count || right.lastOccurrence - left.lastOccurrence);
}

/** The newest failed instances by fingerprint, newest first within each. */
export async function groupedLetters(
  deps: UseCaseDeps,
  query: GroupQuery,
): Promise<ReadonlyMap<string, readonly DeadLetter[]>> {
  const page = { namespace: null, metadata: [], limit: LOOKED_AT, offset: 0 };
  const letters = await listDeadLetters(deps, { ...query, ...page });
  const groups = new Map<string, DeadLetter[]>();
  for (const letter of letters) {
    const { fingerprint } = letter.fingerprint;
    groups.set(fingerprint, [...(groups.get(fingerprint) ?? []), letter]);
  }
  return groups;
}

function groupOf(letters: readonly DeadLetter[]): DeadLetterGroup {
  const [newest] = letters;
  if (newest === undefined) throw new Error('a group has at least one member');
  const times = letters.map(({ instance }) => instance.updatedAt);
  const message = newest.instance.failure?.error['message'];
  return {
    ...newest.fingerprint,
    sampleMessage: redactedExcerpt(typeof message === 'string' ? message : ''),
    count: letters.length,
    firstOccurrence: Math.min(...times),
    lastOccurrence: Math.max(...times),
    sequences: distinct(letters.map(({ sequenceName }) => sequenceName)),
    blocks: distinct(letters.map(({ instance }) => instance.failure?.blockId ?? null)),
    handlers: distinct(letters.map(({ handler }) => handler)),
    sampleInstanceIds: letters.slice(0, SAMPLES_MAX).map(({ instance }) => instance.id),
  };
}

function distinct(names: readonly (string | null)[]): readonly string[] {
  return [...new Set(names.flatMap((name) => (name === null || name === '' ? [] : [name])))].toSorted();
}
