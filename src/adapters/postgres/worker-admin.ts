import type { ClusterNode, NodeStore } from '../../ports/store/nodes.ts';
import type {
  RoutingRule,
  VersionPin,
  WorkerAdminStore,
  WorkerCommand,
} from '../../ports/store/worker-admin.ts';
import { call, isUuid } from './call.ts';
import type { SqlDriver, SqlParam } from './driver.ts';
import { answerOf } from './rows.ts';

export function createWorkerAdminStore(driver: SqlDriver): WorkerAdminStore {
  const ask = asking(driver);
  return {
    insertCommand: (command) =>
      ask<WorkerCommand>('SELECT stepwell.insert_command_v1($1::jsonb)', [JSON.stringify(command)]),
    listCommands: (tenantId, workerId, limit) =>
      ask<WorkerCommand[]>('SELECT stepwell.list_commands_v1($1, $2, $3)', [tenantId, workerId, limit]),
    deleteCommand: async (tenantId, id) =>
      isUuid(id) && (await ask<boolean>('SELECT stepwell.delete_command_v1($1, $2)', [tenantId, id])),
    putVersionPin: (tenantId, handlerName, minVersion) =>
      ask<VersionPin>('SELECT stepwell.put_pin_v1($1, $2, $3)', [tenantId, handlerName, minVersion]),
    listVersionPins: (tenantId, limit) =>
      ask<VersionPin[]>('SELECT stepwell.list_pins_v1($1, $2)', [tenantId, limit]),
    deleteVersionPin: (tenantId, handlerName) =>
      ask<boolean>('SELECT stepwell.delete_pin_v1($1, $2)', [tenantId, handlerName]),
    insertRoutingRule: (rule) =>
      ask<RoutingRule>('SELECT stepwell.insert_rule_v1($1::jsonb)', [JSON.stringify(rule)]),
    listRoutingRules: (tenantId, limit) =>
      ask<RoutingRule[]>('SELECT stepwell.list_rules_v1($1, $2)', [tenantId, limit]),
    getRoutingRule: async (tenantId, id) =>
      isUuid(id)
        ? await ask<RoutingRule | null>('SELECT stepwell.get_rule_v1($1, $2)', [tenantId, id])
        : null,
    deleteRoutingRule: async (tenantId, id) =>
      isUuid(id) && (await ask<boolean>('SELECT stepwell.delete_rule_v1($1, $2)', [tenantId, id])),
  };
}

export function createNodeStore(driver: SqlDriver): NodeStore {
  const ask = asking(driver);
  return {
    heartbeatNode: (id, name, silentMs) =>
      ask<boolean>('SELECT stepwell.heartbeat_node_v1($1, $2, $3)', [id, name, silentMs]),
    drainNode: async (id) => void (await ask('SELECT stepwell.drain_node_v1($1)', [id])),
    stopNode: async (id) => void (await ask('SELECT stepwell.stop_node_v1($1)', [id])),
    listNodes: (limit) => ask<ClusterNode[]>('SELECT stepwell.list_nodes_v1($1)', [limit]),
  };
}

function asking(driver: SqlDriver): <T>(text: string, params: readonly SqlParam[]) => Promise<T> {
  return async <T>(text: string, params: readonly SqlParam[]) =>
    answerOf<T>(await call(driver, text, params));
}
