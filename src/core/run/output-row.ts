import type { Json } from '../json.ts';

/**
 * Kinds of block output rows (sequences.md 5.3). `node` rows are hidden: they hold what cannot be recomputed from the
 * others (skips, failures, chosen routes, ends of composites), so that folding the rows rebuilds the tree (RULINGS B2).
 */
export type RowKind =
  | 'result'
  | 'retry'
  | 'error'
  | 'breach'
  | 'gate'
  | 'escalation'
  | 'counter'
  | 'variant'
  | 'interceptor'
  | 'sla'
  | 'node'
  | 'hook'
  | 'hook_error';

/** A row as the core asks for it; the store adds rev, ordinal and the instant. */
export interface NewRow {
  readonly id: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly kind: RowKind;
  readonly attempt: number;
  readonly output: Json;
  /** Of `output` as JSON, where that has been counted already. */
  readonly bytes?: number;
  /** Node times, epoch ms; null where the row is not about a node. */
  readonly startedAt: number | null;
  /** The run that the row belongs to, when it is not the one of its commit (a late report of a cleanup hook). */
  readonly runNo?: number;
}

/** A row as it is read back, oldest first by (rev, ordinal) (RULINGS A35). */
export interface OutputRow extends NewRow {
  readonly instanceId: string;
  readonly runNo: number;
  readonly rev: number;
  readonly ordinal: number;
  /** Bytes of canonical JSON. */
  readonly outputSize: number;
  readonly createdAt: number;
  /** The output was left where it is stored, and stands here as null. */
  readonly isLeftOut?: true;
}

/** Outputs from this size on may be left out of lists (RULINGS B20), bytes of canonical JSON. */
export const EXTERNALIZE_BYTES = 65_536;

/** Kinds that templates and expressions never see ([OUT-5]). */
export function isVisibleToTemplates(kind: RowKind): boolean {
  return kind !== 'node' && kind !== 'retry' && kind !== 'interceptor' && kind !== 'sla';
}

/** Rows about the run that are no part of it ([INT-1], [SLA-1]). */
export function isTrace(kind: RowKind): boolean {
  return kind === 'interceptor' || kind === 'sla';
}

/** Key under which an output that was left out of a list is found. */
function externalKey({ instanceId, id }: Pick<OutputRow, 'instanceId' | 'id'>): string {
  return `${instanceId}:out:${id}`;
}

/** `output` and `output_ref` of a listed row ([EXT-1]). */
export function shownOutput(row: OutputRow): { readonly output: Json; readonly output_ref: string | null } {
  if (row.isLeftOut !== true) return { output: row.output, output_ref: markerOf(row.kind) };
  const key = externalKey(row);
  return { output: { _externalized: true, _ref: key }, output_ref: key };
}

/** What the outputs listing shows in `output_ref` for a kind; null for ordinary rows. */
export function markerOf(kind: RowKind): '__retry__' | '__error__' | null {
  if (kind === 'retry') return '__retry__';
  return kind === 'error' || kind === 'hook_error' ? '__error__' : null;
}

/** The latest live `result` or `node` row of a block, all that the tree view needs of it. */
export interface NodeRow {
  readonly blockId: string;
  readonly iteration: string;
  readonly kind: 'result' | 'node';
  readonly attempt: number;
  readonly startedAt: number | null;
  readonly createdAt: number;
  /** Output of a `node` row; null for a result. */
  readonly node: Json;
}

/** A row as the outputs listing shows it, and as a parent sees the rows of its child ([SUB-7]). */
export function rowView(row: OutputRow): {
  readonly id: string;
  readonly instance_id: string;
  readonly block_id: string;
  readonly output: Json;
  readonly output_ref: string | null;
  readonly output_size: number;
  readonly attempt: number;
  readonly iteration: string;
  readonly created_at: string;
} {
  return {
    id: row.id,
    instance_id: row.instanceId,
    block_id: row.blockId,
    ...shownOutput(row),
    output_size: row.outputSize,
    attempt: row.attempt,
    iteration: row.iteration,
    created_at: new Date(row.createdAt).toISOString(),
  };
}
