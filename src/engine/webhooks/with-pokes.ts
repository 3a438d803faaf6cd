import type { Committer } from '../committer.ts';
import type { TurnDeps } from '../turn-deps.ts';

/** In a process that lives on, webhooks are sent as soon as the commit that queued them is stored. */
export function withPokes(deps: TurnDeps): TurnDeps {
  const { outbox, committer, limits } = deps;
  if (outbox === undefined || limits.webhooks === undefined) return deps;
  const poking: Committer = {
    async commit(turn, mayWait) {
      const committed = await committer.commit(turn, mayWait);
      const { verdict } = committed.verdict;
      const queued = turn.webhooks !== undefined && turn.webhooks.length > 0;
      if (queued && (verdict === 'ok' || verdict === 'already')) outbox.poke();
      return committed;
    },
  };
  return { ...deps, committer: poking };
}
