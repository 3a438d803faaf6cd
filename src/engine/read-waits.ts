import type { Frame } from '../core/run/frame.ts';
import type { Plan } from '../core/run/plan.ts';
import { isTerminal } from '../core/run/states.ts';
import { type WaitsFor, waitsFor } from '../core/run/waits-for.ts';
import { ReadTooLarge } from '../ports/store/bounded-reads.ts';
import type { InstanceView } from '../ports/store/reads.ts';
import type { UseCaseDeps } from './use-case.ts';

/** Open lists of one run that are looked at; gates come first, then those that fall due first. */
const LISTS_PER_RUN = 20;

/** What each of these instances waits for (dashboard.md A1), by id. One look at the store for all of them. */
export async function readWaits(
  deps: Pick<UseCaseDeps, 'store' | 'definitions' | 'clock'>,
  tenantId: string | null,
  views: readonly InstanceView[],
): Promise<ReadonlyMap<string, WaitsFor | null>> {
  const open = views.filter(({ state }) => !isTerminal(state) && state !== 'paused');
  if (open.length === 0) return new Map();
  const ids = open.map(({ id }) => id);
  const standing = await standingOf(deps, tenantId, ids);
  const now = deps.clock.nowMs();
  const found = open.map(async (view) => {
    const frames = standing.get(view.id) ?? [];
    const plan = frames.length === 0 ? null : await planOf(deps, view);
    return [view.id, waitsFor(view, { frames, plan, now })] as const;
  });
  return new Map(await Promise.all(found));
}

/** A list is shown also where there is too much that its runs stand at: then it names no blocks. */
async function standingOf(
  { store }: Pick<UseCaseDeps, 'store'>,
  tenantId: string | null,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Frame[]>> {
  try {
    return await store.listStanding(tenantId, ids, LISTS_PER_RUN);
  } catch (error) {
    if (error instanceof ReadTooLarge) return new Map();
    throw error;
  }
}

/** A list is shown also where a definition cannot be read just now: its blocks stay unnamed. */
function planOf({ definitions }: Pick<UseCaseDeps, 'definitions'>, view: InstanceView): Promise<Plan | null> {
  return definitions.planOf(view).catch(() => null);
}
