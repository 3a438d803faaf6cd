import { describe } from 'vitest';
import { describeApiKeys } from './api-keys.ts';
import { describeBoundedReads } from './bounded-reads.ts';
import { describeBreakers } from './breakers.ts';
import { describeBudgets } from './budgets.ts';
import { describeCatalog } from './catalog.ts';
import { describeChangeFeed } from './change-feed.ts';
import { describeChildren } from './children.ts';
import { describeClaims } from './claims.ts';
import { describeClusterNodes } from './cluster-nodes.ts';
import { describeCommits } from './commits.ts';
import { describeConcurrencyKeys } from './concurrency-keys.ts';
import { describeContextPatches } from './context-patches.ts';
import { describeEvents } from './events.ts';
import { describeFences } from './fences.ts';
import { describeGoingBack } from './going-back.ts';
import { describeHandlerNames } from './handler-names.ts';
import { describeAroundSteps } from './around-steps.ts';
import { describeHooks } from './hooks.ts';
import { describeIdempotency } from './idempotency.ts';
import { describeInboxOrder } from './inbox-order.ts';
import { describeInstanceLists } from './instance-lists.ts';
import { describeInstanceReads } from './instance-reads.ts';
import { describeInspection } from './inspection.ts';
import { describeIntents } from './intents.ts';
import { describeItems } from './items.ts';
import { describeKeysAndValues } from './keys-and-values.ts';
import { describeLeases } from './leases.ts';
import { describeManyInstances } from './many-instances.ts';
import { describePlugins } from './plugins.ts';
import { describePlans } from './plans.ts';
import { describePools } from './pools.ts';
import { describeRateLimits } from './rate-limits.ts';
import { describeRecovery } from './recovery.ts';
import { describeNoProgress } from './no-progress.ts';
import { describeOutside } from './outside.ts';
import { describeOutbox } from './outbox.ts';
import { describeOutputLists } from './output-lists.ts';
import { describeOutputRows } from './output-rows.ts';
import { describeSchedules } from './schedules.ts';
import { describeSessions } from './sessions.ts';
import { describeSettleAndWake } from './settle-and-wake.ts';
import { describeShapeChanges } from './shape-changes.ts';
import { describeStarts } from './starts.ts';
import type { MakeStore } from './store-under-test.ts';
import { describeSweeps } from './sweeps.ts';
import { describeTaskClaims } from './task-claims.ts';
import { describeTaskLife } from './task-life.ts';
import { describeTaskReads } from './task-reads.ts';
import { describeTaskReports } from './task-reports.ts';
import { describeWakes } from './wakes.ts';
import { describeWorkerAdmin } from './worker-admin.ts';

const AREAS: Readonly<Record<string, (makeStore: MakeStore) => void>> = {
  claims: describeClaims,
  'concurrency keys': describeConcurrencyKeys,
  leases: describeLeases,
  recovery: describeRecovery,
  'runs without progress': describeNoProgress,
  fences: describeFences,
  commits: describeCommits,
  intents: describeIntents,
  'settle and wake': describeSettleAndWake,
  inbox: describeInboxOrder,
  'context patches': describeContextPatches,
  events: describeEvents,
  'what reaches beyond an instance': describeOutside,
  starts: describeStarts,
  'bounded reads': describeBoundedReads,
  'output rows': describeOutputRows,
  'lists of output rows': describeOutputLists,
  'keys and values': describeKeysAndValues,
  'items side by side': describeItems,
  'outgoing webhooks': describeOutbox,
  'pins, commands and routing rules': describeWorkerAdmin,
  'nodes of the cluster': describeClusterNodes,
  plans: describePlans,
  children: describeChildren,
  'claims of tasks': describeTaskClaims,
  'reports of workers': describeTaskReports,
  'tasks and their instances': describeTaskLife,
  'reads of tasks': describeTaskReads,
  'names of handlers': describeHandlerNames,
  'cleanup hooks': describeHooks,
  'traces, alerts and journal': describeAroundSteps,
  'reads of instances': describeInstanceReads,
  'lists of instances': describeInstanceLists,
  'the change feed': describeChangeFeed,
  'keys of tenants': describeApiKeys,
  'going back and forks': describeGoingBack,
  catalog: describeCatalog,
  schedules: describeSchedules,
  sessions: describeSessions,
  'keys of requests': describeIdempotency,
  'many instances': describeManyInstances,
  'rate limits': describeRateLimits,
  'circuit breakers': describeBreakers,
  'resource pools': describePools,
  plugins: describePlugins,
  budgets: describeBudgets,
  wakes: describeWakes,
  'the look of a sweep': describeSweeps,
  'what stands around an instance': describeInspection,
  'changes of what a run is made of': describeShapeChanges,
};

/** What every store must do. An adapter passes all of it or is none. */
export function describeStoreContract(name: string, makeStore: MakeStore): void {
  describe(`store contract over ${name}`, () => {
    for (const [area, describeArea] of Object.entries(AREAS)) {
      describe(`of ${area}`, () => {
        describeArea(makeStore);
      });
    }
  });
}
