import type { BackendName } from '../api/support/backends.ts';
import { describeBlocks } from './describe-blocks.ts';
import { describeClaims } from './describe-claims.ts';
import { describeSignals } from './describe-signals.ts';
import { describeStructure } from './describe-structure.ts';
import { describeWakes } from './describe-wakes.ts';
import { useStage } from './support/stage.ts';

/** Registers the scenarios over one kind of store. */
export function describeAll(backendName: BackendName): void {
  const stage = useStage(backendName);
  describeClaims(stage);
  describeWakes(stage);
  describeSignals(stage);
  describeStructure(stage);
  describeBlocks(stage);
}
