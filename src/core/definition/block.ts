import * as z from 'zod';
import { Int32, JsonValue, WholeNumber } from './scalars.ts';
import { StepBlock } from './step.ts';

/**
 * The blocks of sequences.md 2.3 and 2.4. The getters delay the look at `Block`, which is defined last, and carry their
 * type because a recursive schema cannot infer itself.
 */
export type BlockList = z.ZodArray<typeof Block>;
export type OptionalBlockList = z.ZodExactOptional<BlockList>;

export const blockList = (): BlockList => z.array(Block);

/**
 * All branches run side by side (9.1). `fail_fast` cancels the others when one fails, `min_successful` completes the
 * block when that many branches have (RULINGS B25); both absent: the block waits for every branch.
 */
const ParallelBlock = z.object({
  type: z.literal('parallel'),
  id: z.string(),
  get branches(): z.ZodArray<BlockList> {
    return z.array(blockList());
  },
  fail_fast: z.boolean().exactOptional(),
  min_successful: WholeNumber.exactOptional(),
});
export type ParallelBlock = z.infer<typeof ParallelBlock>;

/** The first branch that drains wins (9.2). */
const RaceBlock = z.object({
  type: z.literal('race'),
  id: z.string(),
  get branches(): z.ZodArray<BlockList> {
    return z.array(blockList());
  },
  semantics: z.enum(['first_to_resolve', 'first_to_succeed']).default('first_to_resolve'),
});
export type RaceBlock = z.infer<typeof RaceBlock>;

const Route = z.object({
  condition: z.string(),
  get blocks(): BlockList {
    return blockList();
  },
});
export type Route = z.infer<typeof Route>;

/** The first route whose condition is truthy, else `default`, else nothing (9.3). */
const RouterBlock = z.object({
  type: z.literal('router'),
  id: z.string(),
  routes: z.array(Route),
  get default(): OptionalBlockList {
    return blockList().exactOptional();
  },
});
export type RouterBlock = z.infer<typeof RouterBlock>;

const TryCatchBlock = z.object({
  type: z.literal('try_catch'),
  id: z.string(),
  get try_block(): BlockList {
    return blockList();
  },
  get catch_block(): BlockList {
    return blockList();
  },
  get finally_block(): OptionalBlockList {
    return blockList().exactOptional();
  },
});
export type TryCatchBlock = z.infer<typeof TryCatchBlock>;

/** Repeats `body` while `condition` is truthy (9.5). `poll_interval` is whole seconds between passes. */
const LoopBlock = z.object({
  type: z.literal('loop'),
  id: z.string(),
  condition: z.string(),
  get body(): BlockList {
    return blockList();
  },
  max_iterations: WholeNumber.default(1000),
  break_on: z.string().exactOptional(),
  continue_on_error: z.boolean().default(false),
  poll_interval: WholeNumber.exactOptional(),
  retain_iterations: WholeNumber.exactOptional(),
});
export type LoopBlock = z.infer<typeof LoopBlock>;

/** How many items may fail: a number of items or a share of them, exactly one of the two. */
const Tolerance = z.object({
  count: WholeNumber.exactOptional(),
  percent: z.number().exactOptional(),
});
export type Tolerance = z.infer<typeof Tolerance>;

/**
 * Runs `body` once per item (9.6). The members from `concurrency` on are additive (RULINGS B25); absent they mean one
 * item at a time, `fail`, no tolerance, and no collected output.
 */
const ForEachBlock = z.object({
  type: z.literal('for_each'),
  id: z.string(),
  collection: z.string(),
  item_var: z.string().default('item'),
  get body(): BlockList {
    return blockList();
  },
  max_iterations: WholeNumber.default(1000),
  retain_iterations: WholeNumber.exactOptional(),
  concurrency: WholeNumber.exactOptional(),
  on_item_failure: z.enum(['fail', 'continue']).exactOptional(),
  tolerate: Tolerance.exactOptional(),
  collect: z.boolean().exactOptional(),
});
export type ForEachBlock = z.infer<typeof ForEachBlock>;

/** Starts a child instance and waits for it (9.7). Without `version` the highest one that is not deprecated. */
const SubSequenceBlock = z.object({
  type: z.literal('sub_sequence'),
  id: z.string(),
  sequence_name: z.string(),
  version: Int32.exactOptional(),
  input: JsonValue.default(null),
});
export type SubSequenceBlock = z.infer<typeof SubSequenceBlock>;

const Variant = z.object({
  name: z.string(),
  weight: WholeNumber,
  get blocks(): BlockList {
    return blockList();
  },
});
export type Variant = z.infer<typeof Variant>;

/** One variant, chosen by weight (9.8). The input spelling `ab_split` is normalised before this schema ([ENUM-3]). */
const AbSplitBlock = z.object({
  type: z.literal('a_b_split'),
  id: z.string(),
  variants: z.array(Variant),
});
export type AbSplitBlock = z.infer<typeof AbSplitBlock>;

const CancellationScopeBlock = z.object({
  type: z.literal('cancellation_scope'),
  id: z.string(),
  get blocks(): BlockList {
    return blockList();
  },
});
export type CancellationScopeBlock = z.infer<typeof CancellationScopeBlock>;

const SagaStep = z.object({
  id: z.string(),
  get action(): typeof Block {
    return Block;
  },
  get compensation(): z.ZodExactOptional<typeof Block> {
    return Block.exactOptional();
  },
});
export type SagaStep = z.infer<typeof SagaStep>;

/** Actions in order; after a failure the compensations of the completed ones run backwards (9.10). */
const SagaBlock = z.object({
  type: z.literal('saga'),
  id: z.string(),
  steps: z.array(SagaStep),
});
export type SagaBlock = z.infer<typeof SagaBlock>;

export const Block = z.discriminatedUnion('type', [
  StepBlock,
  ParallelBlock,
  RaceBlock,
  RouterBlock,
  TryCatchBlock,
  LoopBlock,
  ForEachBlock,
  SubSequenceBlock,
  AbSplitBlock,
  CancellationScopeBlock,
  SagaBlock,
]);
export type Block = z.infer<typeof Block>;

/** The tags of all blocks, as they are answered. */
export const BLOCK_TYPES: readonly Block['type'][] = Block.options.map((option) => option.shape.type.value);
