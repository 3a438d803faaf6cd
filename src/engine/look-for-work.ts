import type { Said, WorkLook } from '../ports/store/sweeps.ts';
import type { TurnDeps } from './turn-deps.ts';

type LookDeps = Pick<TurnDeps, 'store' | 'directory' | 'node' | 'log' | 'clock' | 'counters'>;

/** A look, or why there is none. */
export interface Looked {
  readonly look: WorkLook | null;
  readonly problem: unknown;
}

/**
 * What a sweep asks first, and for an idle one all that it asks: with it the process says which handlers it has (RULINGS
 * B8) and that it lives. Null when there was no answer: then there may be work of every kind.
 */
export async function lookForWork(deps: LookDeps): Promise<WorkLook | null> {
  return (await tryToLook(deps)).look;
}

export async function tryToLook(deps: LookDeps): Promise<Looked> {
  const { store, directory, node, log, clock, counters } = deps;
  const askedAtMs = clock.monotonicMs();
  const ask = (said: Said): Promise<WorkLook> => store.lookForWork(said);
  try {
    const look = await directory.announceWith((announcement) =>
      node === undefined ? ask({ announcement }) : node.beatWith((beat) => ask({ announcement, beat })),
    );
    counters.took('orch8_tick_duration_seconds', clock.monotonicMs() - askedAtMs);
    return { look, problem: null };
  } catch (error) {
    log.warn('the sweep could not look for work and tries everything', { error: String(error) });
    return { look: null, problem: error };
  }
}

/** What goes along with the look, when the look has failed. Never rejects: work does not wait for it. */
export async function sayAlone({
  directory,
  node,
  log,
}: Pick<LookDeps, 'directory' | 'node' | 'log'>): Promise<void> {
  await directory.announce();
  try {
    await node?.beatWhenDue();
  } catch (error) {
    log.warn('the sign of life could not be given', { error: String(error) });
  }
}

/** Which kinds of work a sweep has to see to. */
export interface KindsOfWork {
  readonly leases: boolean;
  readonly tasks: boolean;
  readonly expired: boolean;
  readonly due: boolean;
  readonly schedules: boolean;
  readonly webhooks: boolean;
}

const EVERYTHING: KindsOfWork = {
  leases: true,
  tasks: true,
  expired: true,
  due: true,
  schedules: true,
  webhooks: true,
};

export function kindsOfWork(look: WorkLook | null, silentTaskMs: number): KindsOfWork {
  if (look === null) return EVERYTHING;
  const { now, dueAt, leaseUntil, scheduleAt, taskHeardAt, webhookAt, hasExpired } = look;
  const isOver = (at: number | null): boolean => at !== null && at <= now;
  return {
    leases: isOver(leaseUntil),
    tasks: taskHeardAt !== null && taskHeardAt + silentTaskMs <= now,
    expired: hasExpired,
    due: isOver(dueAt),
    schedules: isOver(scheduleAt),
    webhooks: isOver(webhookAt),
  };
}
