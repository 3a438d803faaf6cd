import type * as z from 'zod';
import type { SequenceStatus } from '../core/definition/document.ts';
import type { StepBlock } from '../core/definition/step.ts';
import type { Json } from '../core/json.ts';

/*
 * Sequences as authors write them (sequences.md 2). The composites are written out instead of inferred from their
 * schemas: those refer to each other, and what the compiler infers for optional members then depends on which of them it
 * happens to look at first. A test compares both.
 */

/** A leaf that calls a handler. Durations: whole milliseconds, or seconds with a fraction. */
export type StepDraft = z.input<typeof StepBlock>;

export type BlockDraft =
  | StepDraft
  | ParallelDraft
  | RaceDraft
  | RouterDraft
  | TryCatchDraft
  | LoopDraft
  | ForEachDraft
  | SubSequenceDraft
  | AbSplitDraft
  | CancellationScopeDraft
  | SagaDraft;

type Blocks = readonly BlockDraft[];

/** All branches run side by side. */
export interface ParallelDraft {
  readonly type: 'parallel';
  readonly id: string;
  readonly branches: readonly Blocks[];
  /** A failed branch cancels the others. */
  readonly fail_fast?: boolean;
  /** The block completes when so many branches have, and the others are cancelled. */
  readonly min_successful?: number;
}

/** The first branch that ends wins; with `first_to_succeed` the first that does not fail. */
export interface RaceDraft {
  readonly type: 'race';
  readonly id: string;
  readonly branches: readonly Blocks[];
  readonly semantics?: 'first_to_resolve' | 'first_to_succeed' | undefined;
}

/** The first route whose condition is truthy, else `default`, else nothing. */
export interface RouterDraft {
  readonly type: 'router';
  readonly id: string;
  readonly routes: readonly { readonly condition: string; readonly blocks: Blocks }[];
  readonly default?: Blocks;
}

export interface TryCatchDraft {
  readonly type: 'try_catch';
  readonly id: string;
  readonly try_block: Blocks;
  readonly catch_block: Blocks;
  readonly finally_block?: Blocks;
}

/** Repeats `body` while `condition` is truthy; `poll_interval` is whole seconds between passes. */
export interface LoopDraft {
  readonly type: 'loop';
  readonly id: string;
  readonly condition: string;
  readonly body: Blocks;
  /** Default 1000. */
  readonly max_iterations?: number | undefined;
  readonly break_on?: string;
  readonly continue_on_error?: boolean | undefined;
  readonly poll_interval?: number;
  readonly retain_iterations?: number;
}

/** Runs `body` once per item of `collection`. */
export interface ForEachDraft {
  readonly type: 'for_each';
  readonly id: string;
  readonly collection: string;
  /** Default `item`. */
  readonly item_var?: string | undefined;
  readonly body: Blocks;
  /** Default 1000. */
  readonly max_iterations?: number | undefined;
  readonly retain_iterations?: number;
  /** Items at once; default 1. */
  readonly concurrency?: number;
  /** Default `fail`: open items are cancelled, and the block fails. */
  readonly on_item_failure?: 'fail' | 'continue';
  /** How many items may fail: a number or a share, one of the two. */
  readonly tolerate?: { readonly count?: number; readonly percent?: number };
  /** The block gets an output: the last outputs of the items, in the order of the items. */
  readonly collect?: boolean;
}

/** Starts a child instance and waits for it. */
export interface SubSequenceDraft {
  readonly type: 'sub_sequence';
  readonly id: string;
  readonly sequence_name: string;
  /** Default: the newest that is not deprecated. */
  readonly version?: number;
  readonly input?: Json | undefined;
}

/** One variant, chosen by weight. */
export interface AbSplitDraft {
  readonly type: 'a_b_split';
  readonly id: string;
  readonly variants: readonly { readonly name: string; readonly weight: number; readonly blocks: Blocks }[];
}

/** What is in it is finished also when the instance is cancelled. */
export interface CancellationScopeDraft {
  readonly type: 'cancellation_scope';
  readonly id: string;
  readonly blocks: Blocks;
}

/** Actions in order; after a failure the compensations of the completed ones run backwards. */
export interface SagaDraft {
  readonly type: 'saga';
  readonly id: string;
  readonly steps: readonly {
    readonly id: string;
    readonly action: BlockDraft;
    readonly compensation?: BlockDraft;
  }[];
}

interface InterceptorDraft {
  readonly handler: string;
  readonly params?: Json;
  readonly invoke?: boolean;
}

/** A sequence as its author writes it: the JSON document. What a publish can fill in may be left out. */
export interface SequenceDraft {
  readonly id?: string;
  readonly tenant_id?: string;
  /** Default `default`. */
  readonly namespace?: string;
  readonly name: string;
  /** Default: one more than the newest. */
  readonly version?: number;
  /** Default `production`. */
  readonly status?: SequenceStatus | undefined;
  readonly deprecated?: boolean | undefined;
  /** JSON Schema of the data of a start. */
  readonly input_schema?: Json;
  readonly sla?: { readonly max_runtime?: number; readonly max_step_runtime?: number };
  readonly interceptors?: {
    readonly before_step?: InterceptorDraft;
    readonly after_step?: InterceptorDraft;
    readonly on_signal?: InterceptorDraft;
    readonly on_complete?: InterceptorDraft;
    readonly on_failure?: InterceptorDraft;
  };
  readonly blocks: Blocks;
  readonly on_failure?: Blocks;
  readonly on_cancel?: Blocks;
  readonly created_at?: string;
}

/** A sequence as the server shows it: nothing of this is left out. */
export type StoredSequence = SequenceDraft &
  Required<
    Pick<SequenceDraft, 'id' | 'tenant_id' | 'namespace' | 'version' | 'status' | 'deprecated' | 'created_at'>
  >;
