import { createHash } from 'node:crypto';
import type { AbSplitBlock } from '../../src/core/definition/document.ts';

/** [AB-1]: a pure function of instance and block. */
export function chosenVariant(instanceId: string, block: AbSplitBlock): number {
  const digest = createHash('sha256')
    .update(Buffer.from(instanceId.replaceAll('-', ''), 'hex'))
    .update(Buffer.from([0]))
    .update(block.id, 'utf8')
    .digest();
  const total = block.variants.reduce((sum, { weight }) => sum + BigInt(weight), 0n);
  const point = digest.readBigUInt64BE(0) % total;
  let reached = 0n;
  return block.variants.findIndex(({ weight }) => {
    reached += BigInt(weight);
    return reached > point;
  });
}
