import type { NodeStore } from '../../ports/store/nodes.ts';
import type { NodeBeat } from '../../ports/store/sweeps.ts';
import type { Clock } from '../../ports/system.ts';

export interface NodeSettings {
  /** A UUID, the same for all processes that are one logical node; absent: this process is a node of its own. */
  readonly id?: string;
  /** Shown to people. */
  readonly name: string;
  readonly beatMs: number;
  /** Silence after which another node counts as stopped. */
  readonly silentMs: number;
  /** How often silent nodes are looked for. */
  readonly reapEveryMs: number;
}

/** How often a node says that it lives, and learns whether it is to drain. */
export const NODE_BEAT_MS = 5_000;

/** This process, or this deployment, as the others see it (http-api.md 25). */
export interface NodePresence {
  readonly id: string;
  readonly beatMs: number;
  /** It takes no more work. True from the heartbeat on that was told so. */
  readonly isDraining: boolean;
  beat(): Promise<void>;
  /** As `beat`, unless the last one is fresh. */
  beatWhenDue(): Promise<void>;
  /** As `beat`, with a call that says it along and answers whether the node is to drain. Rejects as the call does. */
  beatWith<T extends { readonly drains: boolean | null }>(ask: (beat: NodeBeat) => Promise<T>): Promise<T>;
  /** It stops in good order. */
  leave(): Promise<void>;
}

export function createNodePresence(
  store: Pick<NodeStore, 'heartbeatNode' | 'stopNode'>,
  clock: Pick<Clock, 'monotonicMs'>,
  settings: NodeSettings & { readonly id: string },
): NodePresence {
  const { id, name, silentMs, reapEveryMs, beatMs } = settings;
  let isDraining = false;
  let beatAt: number | null = null;
  let reapedAt: number | null = null;
  const isOver = (since: number | null, ms: number): boolean =>
    since === null || clock.monotonicMs() - since >= ms;
  const beatWith: NodePresence['beatWith'] = async (ask) => {
    const now = clock.monotonicMs();
    beatAt = now;
    const reaps = isOver(reapedAt, reapEveryMs);
    if (reaps) reapedAt = now;
    try {
      const answer = await ask({ id, name, silentMs: reaps ? silentMs : null });
      isDraining = answer.drains ?? isDraining;
      return answer;
    } catch (error) {
      // It was not heard: the next one need not wait.
      beatAt = null;
      if (reaps) reapedAt = null;
      throw error;
    }
  };
  const beat = async (): Promise<void> => {
    await beatWith(async (said) => ({
      drains: await store.heartbeatNode(said.id, said.name, said.silentMs),
    }));
  };
  return {
    id,
    beatMs,
    get isDraining() {
      return isDraining;
    },
    beat,
    beatWith,
    beatWhenDue: () => (isOver(beatAt, beatMs) ? beat() : Promise.resolve()),
    leave: () => store.stopNode(id),
  };
}
