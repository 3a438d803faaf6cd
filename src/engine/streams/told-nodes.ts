import { sha256Hex } from '../../core/digest.ts';
import type { TreeNode } from '../../core/run/tree.ts';

const DIGITS = 12;
/** Sums of digests stay below it, and a sum of two is still exact. */
const MODULUS = 16 ** DIGITS;

/** The nodes of a tree as a reader was told them last, and a digest of them that does not depend on their order. */
export class ToldNodes {
  private readonly told = new Map<string, number>();
  private sum = 0;

  get digest(): string {
    return this.sum.toString(16).padStart(DIGITS, '0');
  }

  /** Notes a node; false when it was told like that before. */
  tell(node: TreeNode): boolean {
    const own = digestOf(node);
    const before = this.told.get(node.id);
    if (before === own) return false;
    this.told.set(node.id, own);
    this.sum = (this.sum + own + MODULUS - (before ?? 0)) % MODULUS;
    return true;
  }

  /** The reader knows nodes of this digest: if they are these, they were told. */
  assume(tree: readonly TreeNode[], digest: string): void {
    const all = new ToldNodes();
    for (const node of tree) all.tell(node);
    if (all.digest !== digest) return;
    for (const node of tree) this.tell(node);
  }
}

function digestOf(node: TreeNode): number {
  return Number.parseInt(sha256Hex(JSON.stringify(node)).slice(0, DIGITS), 16);
}
