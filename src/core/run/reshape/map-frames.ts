import type { Block } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import { type Frame, ROOT_KEY, frameKey } from '../frame.ts';
import { type Plan, innerIteration, isJoin, isJoined, listsOf } from '../plan.ts';
import { statusesOf } from './list-status.ts';
import { mapBranches } from './map-branches.ts';
import { mapChoice } from './map-choice.ts';
import { mapItems, mapPass } from './map-passes.ts';
import { mapSaga } from './map-saga.ts';
import { mapTry } from './map-try.ts';
import { type Mapping, addFrame, framed, keptOnly, placeList } from './mapping.ts';
import { sameBlocks } from './match-blocks.ts';

/**
 * Works out where a run stands in another plan. Blocks that both plans have keep their state; of a list the ended blocks
 * come first, then what is worked on, then the rest as it stands. Nothing is changed yet; the refusals say what has no
 * safe place in the new plan.
 */
export function mapFrames(draft: Draft, plan: Plan, options: { readonly restarts: boolean }): Mapping {
  const mapping: Mapping = {
    draft,
    plan,
    restarts: options.restarts,
    same: sameBlocks(draft.plan, plan),
    frames: new Map(),
    refusals: [],
  };
  const root = draft.frames.get(ROOT_KEY);
  if (root !== undefined) {
    const statuses = keptOnly(mapping, statusesOf(draft, root, options.restarts));
    const placed = placeList(mapping, '', plan.document.blocks, statuses);
    addList(mapping, framed(root, placed), plan.document.blocks);
  }
  return mapping;
}

/** Adds the frame of a list and those of the open composites in it. */
function addList(mapping: Mapping, frame: Frame, list: readonly Block[]): void {
  addFrame(mapping, frame);
  mapComposites(mapping, list, innerIteration(frame));
}

function mapComposites(mapping: Mapping, list: readonly Block[], iteration: string): void {
  for (const block of list) {
    if (!mapping.same.has(block.id)) continue;
    const own = mapping.draft.frames.get(frameKey({ blockId: block.id, branch: null, iteration }));
    if (own === undefined || isJoined(own)) continue;
    for (const frame of mapComposite(mapping, block, own)) {
      if (isJoin(frame)) addFrame(mapping, frame);
      else if (frame.detail.kind === 'branch')
        addList(mapping, frame, listsOf(block)[frame.branch ?? 0] ?? []);
      else mapInner(mapping, block, frame);
    }
  }
}

function mapInner(mapping: Mapping, block: Block, frame: Frame): void {
  addFrame(mapping, frame);
  for (const list of listsOf(block)) mapComposites(mapping, list, innerIteration(frame));
}

/** The frames of an open composite in the new plan: its own, then those of its branches or items. */
function mapComposite(mapping: Mapping, block: Block, own: Frame): readonly Frame[] {
  switch (block.type) {
    case 'parallel':
    case 'race':
      return mapBranches(mapping, block, own);
    case 'router':
    case 'a_b_split':
      return [mapChoice(mapping, block, own)];
    case 'try_catch':
      return [mapTry(mapping, block, own)];
    case 'loop':
      return [mapPass(mapping, block, own)];
    case 'for_each':
      return own.detail.kind === 'fan_out' ? mapItems(mapping, block, own) : [mapPass(mapping, block, own)];
    case 'cancellation_scope':
      return [mapPass(mapping, block, own)];
    case 'saga':
      return [mapSaga(mapping, block, own)];
    case 'step':
    case 'sub_sequence':
      return [];
  }
}
