import type { Committer } from '../committer.ts';
import type { TurnDeps } from '../turn-deps.ts';

/** In a process that lives on, webhooks are sent as soon as the commit that queued them is stored. */
export function withPokes(deps: TurnDeps): TurnDeps {
  const { outbox, committer, limits } = deps;
  if (outbox === undefined || limits.webhooks === undefined) return deps;
  return { ...deps, committer: telling(committer, () => outbox.poke()) };
}

/** On a function host they are sent before the invocation ends; `queued` says whether there are any. */
export function withNotes(deps: TurnDeps): { readonly deps: TurnDeps; readonly queued: () => boolean } {
  let isQueued = false;
  if (deps.outbox === undefined || deps.limits.webhooks === undefined) return { deps, queued: () => false };
  const committer = telling(deps.committer, () => {
    isQueued = true;
  });
  return { deps: { ...deps, committer }, queued: () => isQueued };
}

/** Calls back after each commit that has queued webhooks. */
function telling(committer: Committer, onQueued: () => void): Committer {
  return {
    async commit(turn, mayWait) {
      const committed = await committer.commit(turn, mayWait);
      const { verdict } = committed.verdict;
      const queued = turn.webhooks !== undefined && turn.webhooks.length > 0;
      if (queued && (verdict === 'ok' || verdict === 'already')) onQueued();
      return committed;
    },
  };
}
