import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * The id of the node of a block: computed and shaped like a UUID v7 (instance's creation time, document position,
 * hash), so that it is the same each time it is asked for and id order is document order (RULINGS B3).
 */
export function nodeId(node: {
  readonly instanceId: string;
  readonly createdAt: number;
  readonly position: number;
  readonly blockId: string;
}): string {
  const time = Math.max(0, Math.floor(node.createdAt)).toString(16).padStart(12, '0').slice(-12);
  // 26 bits hold the position: 12 in rand_a, 14 at the head of rand_b. A document has at most 5,000 blocks.
  const high = (0x7000 + Math.floor(node.position / 0x4000)).toString(16);
  const low = (0x8000 + (node.position % 0x4000)).toString(16);
  const tail = bytesToHex(sha256(utf8ToBytes(`${node.instanceId}\u0000${node.blockId}`))).slice(0, 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-${high}-${low}-${tail}`;
}
