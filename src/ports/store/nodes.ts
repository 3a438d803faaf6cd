/** A process that works on this database (http-api.md 25). */
export interface ClusterNode {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'draining' | 'stopped';
  readonly registeredAt: number;
  readonly lastHeartbeatAt: number;
  readonly drainStartedAt: number | null;
  readonly stoppedAt: number | null;
}

export interface NodeStore {
  /**
   * Registers a node and says that it lives; answers whether it is to drain. With `silentMs`, nodes that have been silent
   * for so long are stopped, and those that stopped more than a day ago are forgotten.
   */
  heartbeatNode(id: string, name: string, silentMs: number | null): Promise<boolean>;
  /** The node takes no more work. Nothing for an unknown one. */
  drainNode(id: string): Promise<void>;
  stopNode(id: string): Promise<void>;
  /** Those that work first, each in the order of registration. */
  listNodes(limit: number): Promise<readonly ClusterNode[]>;
}
