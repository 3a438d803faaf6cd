import type { Json } from '../../core/json.ts';

export const WORKER_COMMANDS = ['drain', 'reload', 'ping', 'place'] as const;

/** What a worker is to do (http-api.md 19.5). */
export interface WorkerCommand {
  readonly id: string;
  readonly workerId: string;
  readonly command: (typeof WORKER_COMMANDS)[number];
  readonly payload: Json;
  readonly createdAt: number;
}

/** Workers of a lower version get no tasks of this handler and tenant, nor do workers without a version. */
export interface VersionPin {
  readonly tenantId: string;
  readonly handlerName: string;
  readonly minVersion: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewRoutingRule {
  readonly id: string;
  readonly tenantId: string;
  readonly handlerName: string;
  /** null: whatever queue the step names, also none. */
  readonly matchQueue: string | null;
  readonly queueOverride: string;
  readonly priority: number;
  readonly enabled: boolean;
}

/** Replaces the queue of new tasks of a handler (http-api.md 20): the enabled rule that comes first and fits. */
export interface RoutingRule extends NewRoutingRule {
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Lists are bounded by `limit`. `tenantId` null: all tenants. */
export interface WorkerAdminStore {
  insertCommand(command: Omit<WorkerCommand, 'createdAt'>): Promise<WorkerCommand>;
  /** Oldest first. A tenant sees the commands of workers that have polled for it. */
  listCommands(tenantId: string | null, workerId: string, limit: number): Promise<readonly WorkerCommand[]>;
  /** False when there is none that the tenant may see. */
  deleteCommand(tenantId: string | null, id: string): Promise<boolean>;
  /** Created or replaced. */
  putVersionPin(tenantId: string, handlerName: string, minVersion: string): Promise<VersionPin>;
  /** By tenant and handler. */
  listVersionPins(tenantId: string | null, limit: number): Promise<readonly VersionPin[]>;
  deleteVersionPin(tenantId: string, handlerName: string): Promise<boolean>;
  insertRoutingRule(rule: NewRoutingRule): Promise<RoutingRule>;
  /** The highest priority first, then the oldest: the order in which they are tried. */
  listRoutingRules(tenantId: string | null, limit: number): Promise<readonly RoutingRule[]>;
  getRoutingRule(tenantId: string | null, id: string): Promise<RoutingRule | null>;
  deleteRoutingRule(tenantId: string | null, id: string): Promise<boolean>;
}
