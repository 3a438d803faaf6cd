import type { BackendName } from '../api/support/backends.ts';
import { describeBlocks } from './describe-blocks.ts';
import { describeClaims } from './describe-claims.ts';
import { describeData } from './describe-data.ts';
import { describeSchedules } from './describe-schedules.ts';
import { describeSignals } from './describe-signals.ts';
import { describeStarts } from './describe-starts.ts';
import { describeStructure } from './describe-structure.ts';
import { describeTime } from './describe-time.ts';
import { describeWakes } from './describe-wakes.ts';
import { describeFlowControl } from './describe-flow-control.ts';
import { describeOperations } from './describe-operations.ts';
import { describeDefinitions } from './describe-definitions.ts';
import { describeRetry } from './describe-retry.ts';
import { describePeople } from './describe-people.ts';
import { describeIdentity } from './describe-identity.ts';
import { describeWorkers } from './describe-workers.ts';
import { useStage } from './support/stage.ts';

/** Registers the scenarios over one kind of store. */
export function describeAll(backendName: BackendName): void {
  const stage = useStage(backendName);
  describeClaims(stage);
  describeWakes(stage);
  describeSignals(stage);
  describeStructure(stage);
  describeData(stage);
  describeStarts(stage);
  describeSchedules(stage);
  describeFlowControl(stage);
  describeOperations(stage);
  describeDefinitions(stage);
  describeBlocks(stage);
  describeTime(stage);
  describeWorkers(stage);
  describeIdentity(stage);
  describePeople(stage);
  describeRetry(stage);
}
