import type { NodeStore } from '../../ports/store/nodes.ts';
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
  const beat = async (): Promise<void> => {
    beatAt = clock.monotonicMs();
    const reaps = isOver(reapedAt, reapEveryMs);
    if (reaps) reapedAt = beatAt;
    isDraining = await store.heartbeatNode(id, name, reaps ? silentMs : null);
  };
  return {
    id,
    beatMs,
    get isDraining() {
      return isDraining;
    },
    beat,
    beatWhenDue: () => (isOver(beatAt, beatMs) ? beat() : Promise.resolve()),
    leave: () => store.stopNode(id),
  };
}
