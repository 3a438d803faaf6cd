import type { JsonObject } from '../json.ts';
import type { Block, SequenceDocument } from './document.ts';

/**
 * A document as the API answers it and the store keeps it: plain JSON, durations in milliseconds, defaults filled in,
 * and null for the members that http-api.md 3.2 shows as null when absent. `parseSequence` reads it back unchanged.
 */
export function serialiseSequence(document: SequenceDocument): JsonObject {
  const { blocks, on_failure: onFailure, on_cancel: onCancel, ...others } = document;
  return {
    ...others,
    blocks: blocks.map(serialiseBlock),
    ...(onFailure === undefined ? {} : { on_failure: onFailure.map(serialiseBlock) }),
    ...(onCancel === undefined ? {} : { on_cancel: onCancel.map(serialiseBlock) }),
  };
}

/** One block with everything below it. The depth of blocks is bounded, so the recursion is too. */
export function serialiseBlock(block: Block): JsonObject {
  switch (block.type) {
    case 'step':
      return {
        ...block,
        params: block.params ?? null,
        delay: block.delay ?? null,
        retry: block.retry ?? null,
      };
    case 'sub_sequence':
      return block;
    case 'parallel':
    case 'race':
      return { ...block, branches: block.branches.map(serialiseList) };
    case 'router':
      return {
        ...block,
        routes: block.routes.map((route) => ({ ...route, blocks: serialiseList(route.blocks) })),
        default: block.default === undefined ? null : serialiseList(block.default),
      };
    case 'try_catch':
      return {
        ...block,
        try_block: serialiseList(block.try_block),
        catch_block: serialiseList(block.catch_block),
        finally_block: block.finally_block === undefined ? null : serialiseList(block.finally_block),
      };
    case 'loop':
    case 'for_each':
      return { ...block, body: serialiseList(block.body) };
    case 'a_b_split':
      return {
        ...block,
        variants: block.variants.map((variant) => ({ ...variant, blocks: serialiseList(variant.blocks) })),
      };
    case 'cancellation_scope':
      return { ...block, blocks: serialiseList(block.blocks) };
    case 'saga':
      return {
        ...block,
        steps: block.steps.map(({ compensation, ...step }) => ({
          ...step,
          action: serialiseBlock(step.action),
          ...(compensation === undefined ? {} : { compensation: serialiseBlock(compensation) }),
        })),
      };
  }
}

function serialiseList(blocks: readonly Block[]): readonly JsonObject[] {
  return blocks.map(serialiseBlock);
}
