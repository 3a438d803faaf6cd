import type * as z from 'zod';
import type { TreeBody } from '../../api/schemas/tree.ts';
import { firstLine } from '../../core/failure.ts';
import { type Palette, printable } from '../terminal.ts';
import { waitWords } from './times.ts';

/** Characters of the cause of a retry that are shown. */
const CAUSE_MAX = 200;

export type TreeNode = z.infer<typeof TreeBody>[number];

/**
 * Draws the execution tree. Nodes come in document order; what was skipped is one line, without the blocks inside it.
 */
export function drawTree(nodes: readonly TreeNode[], palette: Palette, withIds = false): readonly string[] {
  const childrenOf = new Map<string | null, TreeNode[]>();
  for (const node of nodes) {
    const siblings = childrenOf.get(node.parent_id) ?? [];
    siblings.push(node);
    childrenOf.set(node.parent_id, siblings);
  }
  const rows = rowsOf(null, '', childrenOf);
  const width = Math.max(0, ...rows.map((row) => row.plain.length));
  return rows.map(({ plain, indent, node, branch }) => {
    const name = `${palette.dim(indent)}${glyph(node.state, palette)} ${palette.bold(printable(node.block_id))}`;
    const about = [node.block_type.padEnd(18), branch.padEnd(8), described(node, palette)];
    return `${name}${' '.repeat(width - plain.length)}  ${palette.dim(about[0] ?? '')} ${palette.dim(about[1] ?? '')} ${about[2]}${withIds ? ` ${palette.dim(node.id)}` : ''}`;
  });
}

interface Row {
  readonly node: TreeNode;
  readonly indent: string;
  readonly branch: string;
  /** The left column without colours, to align the rest. */
  readonly plain: string;
}

function rowsOf(
  parent: TreeNode | null,
  indent: string,
  childrenOf: ReadonlyMap<string | null, readonly TreeNode[]>,
): readonly Row[] {
  if (parent?.state === 'skipped') return [];
  const children = childrenOf.get(parent?.id ?? null) ?? [];
  return children.flatMap((node, index) => {
    const last = index === children.length - 1;
    const lead = parent === null ? '' : `${indent}${last ? '└─ ' : '├─ '}`;
    const below = parent === null ? '' : `${indent}${last ? '   ' : '│  '}`;
    const plain = `${lead}x ${printable(node.block_id)}`;
    const branch = branchName(parent, node.branch_index);
    return [{ node, indent: lead, branch, plain }, ...rowsOf(node, below, childrenOf)];
  });
}

/** What `branch_index` says for a child of this kind of block (http-api.md 5.4). */
function branchName(parent: TreeNode | null, index: number | null): string {
  if (parent === null || index === null) return '';
  switch (parent.block_type) {
    case 'try_catch':
      return ['try', 'catch', 'finally'][index] ?? '';
    case 'router':
      return `route ${index}`;
    case 'saga':
      return index % 2 === 0 ? `do ${index / 2}` : `undo ${(index - 1) / 2}`;
    case 'a_b_split':
      return `variant ${index}`;
    default:
      return `branch ${index}`;
  }
}

function glyph(state: string, palette: Palette): string {
  switch (state) {
    case 'completed':
      return palette.green('✔');
    case 'failed':
      return palette.red('✖');
    case 'cancelled':
      return palette.yellow('⊘');
    case 'running':
      return palette.cyan('▶');
    case 'waiting':
      return palette.magenta('◷');
    case 'skipped':
      return palette.dim('↷');
    default:
      return palette.dim('·');
  }
}

function described(node: TreeNode, palette: Palette): string {
  const words = [colouredState(node.state, palette)];
  const took = durationOf(node);
  if (took !== null) words.push(palette.dim(took));
  if (node.attempt > 0) words.push(palette.yellow(`try ${node.attempt + 1}`));
  if (node.iteration !== '') words.push(palette.dim(`pass ${node.iteration}`));
  // A step that sleeps is running by the rules of states; people want to know until when.
  const isOpen = node.state === 'waiting' || node.state === 'running';
  if (isOpen && node.reason !== null) words.push(waitWords(printable(node.reason), node.wake_at));
  if (isOpen && node.reason === 'retry') words.push(palette.yellow(causeOf(node.error)));
  if (node.state === 'failed') words.push(palette.red(errorText(node.error)));
  return words.filter((word) => word !== '').join(' ');
}

export function colouredState(state: string, palette: Palette): string {
  switch (state) {
    case 'completed':
      return palette.green(state);
    case 'failed':
      return palette.red(state);
    case 'waiting':
    case 'paused':
      return palette.magenta(state);
    case 'running':
    case 'scheduled':
      return palette.cyan(state);
    case 'cancelled':
      return palette.yellow(state);
    default:
      return palette.dim(state);
  }
}

function durationOf(node: TreeNode): string | null {
  if (node.started_at === null || node.completed_at === null) return null;
  const ms = Date.parse(node.completed_at) - Date.parse(node.started_at);
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Why a step is tried again: one short line, because the whole error is shown when it has failed for good. */
function causeOf(error: unknown): string {
  const line = Array.from(printable(firstLine(messageOf(error))));
  if (line.length === 0) return '';
  return `after ${line.slice(0, CAUSE_MAX).join('')}${line.length > CAUSE_MAX ? '…' : ''}`;
}

function errorText(error: unknown): string {
  return printable(messageOf(error));
}

function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  const message = 'message' in error && typeof error.message === 'string' ? error.message : '';
  return `${code}${message}`;
}
