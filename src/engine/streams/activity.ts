import type { Store } from '../../ports/store/store.ts';
import type { Clock } from '../../ports/system.ts';

/** One who follows an instance or a tenant. */
export interface Follower {
  /** Resolves when something was written here since the last call, at the latest after `withinMs`; false once closed. */
  next(withinMs: number): Promise<boolean>;
  close(): void;
}

/**
 * What this process writes, told to those who follow it in the same process. What other processes write is not heard:
 * followers look again after a while in any case.
 */
export interface Activity {
  follow(topic: Topic): Follower;
  happened(topic: Topic): void;
  /** The process stops: all who follow are done, also those to come. They go on elsewhere from where they were. */
  end(): void;
}

export type Topic = { readonly instanceId: string } | { readonly tenantId: string };

interface State {
  pending: boolean;
  wake: (() => void) | null;
}

const keyOf = (topic: Topic): string =>
  'instanceId' in topic ? `i:${topic.instanceId}` : `t:${topic.tenantId}`;

export function createActivity(clock: Pick<Clock, 'after'>): Activity {
  const followers = new Map<string, Set<State>>();
  let over = false;
  return {
    happened(topic) {
      for (const state of followers.get(keyOf(topic)) ?? []) {
        state.pending = true;
        state.wake?.();
      }
    },
    end() {
      over = true;
      for (const states of followers.values()) for (const state of states) state.wake?.();
    },
    follow(topic) {
      const key = keyOf(topic);
      const state: State = { pending: false, wake: null };
      const all = followers.get(key) ?? new Set();
      followers.set(key, all.add(state));
      let closed = false;
      return {
        async next(withinMs) {
          if (!state.pending && !closed && !over) await wakeOrTime(clock, state, withinMs);
          state.pending = false;
          return !closed && !over;
        },
        close() {
          closed = true;
          all.delete(state);
          if (all.size === 0) followers.delete(key);
          state.wake?.();
        },
      };
    },
  };
}

/** The same, but those who follow look at most so often: for a host that hears of no writes and counts each request. */
export function unhurried(activity: Activity, leastMs: number): Activity {
  return {
    ...activity,
    follow(topic) {
      const follower = activity.follow(topic);
      return {
        next: (withinMs) => follower.next(Math.max(withinMs, leastMs)),
        close: () => follower.close(),
      };
    },
  };
}

function wakeOrTime(clock: Pick<Clock, 'after'>, state: State, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel();
      state.wake = null;
      resolve();
    };
    const cancel = clock.after(withinMs, finish);
    state.wake = finish;
  });
}

/** The store, telling of what is written through it. */
export function observed(store: Store, activity: Activity): Store {
  const told = (tenantId: string | null, instanceId: string): void => {
    activity.happened({ instanceId });
    if (tenantId !== null) activity.happened({ tenantId });
  };
  return {
    ...store,
    async commit(turns) {
      const answer = await store.commit(turns);
      for (const { tenantId, instanceId } of turns) told(tenantId, instanceId);
      return answer;
    },
    async openAttempt(attempt) {
      const stores = await store.openAttempt(attempt);
      return { of: (scope) => observed(stores.of(scope), activity) };
    },
    async patchContext(request) {
      const answer = await store.patchContext(request);
      told(request.tenantId, request.instanceId);
      return answer;
    },
  };
}
