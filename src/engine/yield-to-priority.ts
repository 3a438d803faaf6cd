import type { Draft } from '../core/run/draft.ts';
import { ROOT_KEY } from '../core/run/frame.ts';
import type { TurnDeps } from './turn-deps.ts';

/** The time budget of a turn where the host sets none: it bounds how long lower work may keep a place from higher work. */
const UNBOUNDED_BUDGET_MS = 20_000;
/** High: from here on nothing comes first that would be worth a question. */
const HIGH = 2;
/** Between two questions of one turn, however short its blocks are. */
const ASK_AGAIN_MS = 1_000;

/** Whether a turn lets work of a higher priority go first (13.1). */
export interface PriorityYield {
  /**
   * True between two root blocks of a Low or Normal instance, once more than half of the time of the turn is used. Costs
   * nothing; only then the database is asked, at most once a second.
   */
  mayBeDue(draft: Draft): boolean;
  /** True when work of the same tenant with a higher priority is due. An error says no: nobody is worse off. */
  isDue(draft: Draft): Promise<boolean>;
}

export function createPriorityYield(deps: TurnDeps): PriorityYield {
  const { remainingTimeMs } = deps.limits;
  const beganAtMs = deps.clock.monotonicMs();
  const budgetMs = remainingTimeMs === null ? UNBOUNDED_BUDGET_MS : remainingTimeMs();
  let cursor: number | null = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  return {
    mayBeDue(draft) {
      const { record } = draft;
      if (record.priority >= HIGH) return false;
      const present = draft.frames.get(ROOT_KEY)?.cursor ?? 0;
      const moved = cursor !== null && present !== cursor;
      cursor = present;
      if (!moved) return false;
      const nowMs = deps.clock.monotonicMs();
      const usedMs = remainingTimeMs === null ? nowMs - beganAtMs : budgetMs - remainingTimeMs();
      if (usedMs <= budgetMs / 2 || nowMs - askedAtMs < ASK_AGAIN_MS) return false;
      askedAtMs = nowMs;
      return true;
    },
    async isDue({ record }) {
      try {
        return await deps.store.hasHigherDue(record.tenantId, record.priority);
      } catch (error) {
        deps.log.debug('higher work could not be looked for', { error: String(error) });
        return false;
      }
    },
  };
}
