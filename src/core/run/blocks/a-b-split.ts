import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { AbSplitBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import {
  type Outcome,
  type Place,
  type RunList,
  closeBlock,
  frameAt,
  inside,
  knownFrame,
  openFrame,
} from '../place.ts';

/** 9.8: one variant, a pure function of instance and block ([AB-1], [AB-3]). */
export function runAbSplit(draft: Draft, place: Place, block: AbSplitBlock, runList: RunList): Outcome {
  const fresh = knownFrame(draft, place, block) === undefined;
  const frame = openFrame(draft, place, block, () => ({
    kind: 'a_b_split',
    variant: chooseVariant(draft.record.id, block),
  }));
  const variant = frame.detail.kind === 'a_b_split' ? frame.detail.variant : 0;
  if (fresh) {
    draft.addRow({
      blockId: block.id,
      iteration: frame.iteration,
      kind: 'variant',
      attempt: 0,
      output: { variant: block.variants[variant]?.name ?? '', variant_index: variant },
      startedAt: draft.env.now,
    });
  }
  const inner = inside(place, frame);
  const end = runList(draft, inner);
  return end === 'open' ? 'open' : closeBlock(draft, place, frameAt(draft, inner), end);
}

/** Index of the chosen variant: the first whose cumulated weight exceeds `hash mod total` ([AB-1]). */
export function chooseVariant(instanceId: string, block: Pick<AbSplitBlock, 'id' | 'variants'>): number {
  const id = hexToBytes(instanceId.replaceAll('-', ''));
  const name = utf8ToBytes(block.id);
  const message = new Uint8Array(id.length + 1 + name.length);
  message.set(id, 0);
  message.set(name, id.length + 1);
  const head = sha256(message).subarray(0, 8);
  const hash = head.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  const total = block.variants.reduce((sum, variant) => sum + BigInt(variant.weight), 0n);
  let rest = hash % total;
  for (const [index, variant] of block.variants.entries()) {
    const weight = BigInt(variant.weight);
    if (rest < weight) return index;
    rest -= weight;
  }
  return block.variants.length - 1;
}
