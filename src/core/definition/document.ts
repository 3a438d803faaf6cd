import * as z from 'zod';
import { type BlockList, blockList, type OptionalBlockList } from './block.ts';
import { Duration, Instant, Int32, JsonValue, Uuid } from './scalars.ts';

export type {
  AbSplitBlock,
  CancellationScopeBlock,
  ForEachBlock,
  LoopBlock,
  ParallelBlock,
  RaceBlock,
  RouterBlock,
  SagaBlock,
  SubSequenceBlock,
  TryCatchBlock,
} from './block.ts';
export type {
  Compensation,
  Delay,
  HumanInput,
  RetryPolicy,
  SendWindow,
  StepBlock,
} from './step.ts';

export { Block } from './block.ts';

/** A hook of the engine (18.1). Without `invoke` it only leaves a trace row; absent means false. */
const Interceptor = z.object({
  handler: z.string(),
  params: JsonValue.exactOptional(),
  invoke: z.boolean().exactOptional(),
});
export type Interceptor = z.infer<typeof Interceptor>;

const Interceptors = z.object({
  before_step: Interceptor.exactOptional(),
  after_step: Interceptor.exactOptional(),
  on_signal: Interceptor.exactOptional(),
  on_complete: Interceptor.exactOptional(),
  on_failure: Interceptor.exactOptional(),
});
export type Interceptors = z.infer<typeof Interceptors>;

/** Alerts only (18.3): a run that exceeds them goes on. Milliseconds. */
const Sla = z.object({
  max_runtime: Duration.exactOptional(),
  max_step_runtime: Duration.exactOptional(),
});
export type Sla = z.infer<typeof Sla>;

export const SequenceStatus = z.enum(['draft', 'staging', 'production', 'unpublished']);
export type SequenceStatus = z.infer<typeof SequenceStatus>;

/**
 * One published version of a workflow (sequences.md chapter 2, http-api.md 3.1). Members keep their wire names and
 * shapes; durations are integer milliseconds, defaults are applied, optional members that were not sent stay absent.
 * This is the shape only: `parseSequence` adds the limits and the warnings.
 */
export const SequenceDocument = z.object({
  id: Uuid,
  tenant_id: z.string().min(1, { error: 'must not be empty' }),
  namespace: z.string(),
  name: z.string(),
  version: Int32,
  status: SequenceStatus.default('production'),
  deprecated: z.boolean().default(false),
  input_schema: JsonValue.exactOptional(),
  sla: Sla.exactOptional(),
  interceptors: Interceptors.exactOptional(),
  // Getters with a written type, as in block.ts: spelled out in the declarations, the blocks would take 11 MB.
  get blocks(): BlockList {
    return blockList();
  },
  get on_failure(): OptionalBlockList {
    return blockList().exactOptional();
  },
  get on_cancel(): OptionalBlockList {
    return blockList().exactOptional();
  },
  created_at: Instant,
});
export type SequenceDocument = z.infer<typeof SequenceDocument>;
