import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { StepBlock } from '../definition/document.ts';
import { sha256Hex } from '../digest.ts';
import { canonicalJson, member } from '../json.ts';
import type { HistoryRow } from './fold/history-row.ts';
import type { Frame, Leaf } from './frame.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { callsModel } from './limits/tracked-handlers.ts';
import { currentList, innerIteration, type Plan } from './plan.ts';
import type { InstanceRecord } from './record.ts';

/**
 * What is known of the effects that the steps of a run had outside (http-api.md 5.4). Nothing is written for it: an attempt that
 * ended well left its result, one that failed or was lost left its error, and one that is under way stands in a frame.
 */
export interface EffectReceipt {
  readonly id: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly runNo: number;
  readonly attempt: number;
  readonly kind: 'http' | 'worker' | 'message' | 'storage' | 'model' | 'human_decision' | 'custom';
  readonly state: 'prepared' | 'dispatched' | 'committed' | 'unknown' | 'compensated';
  /** Of the host that the definition names; null where it names none or computes it. */
  readonly destination: string | null;
  /** Empty for earlier runs, whose keys are not kept. */
  readonly idempotencyKey: string;
  /** Of the handler and its params as the definition has them. */
  readonly requestSha256: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Handlers that change nothing outside the run. What others do is not known, so they count as effects. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  ...['noop', 'log', 'transform', 'assert', 'sleep', 'fail', 'self_modify', 'continue_as_new'],
  ...['set_state', 'get_state', 'delete_state', 'merge_state', 'query_instance', 'wait_for_event'],
  ...['blob_get', 'memory_search'],
]);

const KINDS: Readonly<Record<string, EffectReceipt['kind']>> = {
  http_request: 'http',
  tool_call: 'http',
  mcp_call: 'http',
  emit_event: 'message',
  send_signal: 'message',
  human_review: 'human_decision',
  blob_put: 'storage',
  memory_store: 'storage',
  memory_delete: 'storage',
};

export interface EffectSource {
  readonly plan: Plan;
  readonly instance: InstanceRecord;
  readonly frames: readonly Frame[];
  readonly rows: readonly HistoryRow[];
  /** Blocks whose open worker task somebody has taken. */
  readonly claimedBlocks: ReadonlySet<string>;
  /** True when processes of this build run the handler themselves. */
  readonly runsInProcess: (handler: string) => boolean;
}

/** The receipts of a run, oldest first; none for a dry run, whose effects are stubs. */
export function effectReceipts(source: EffectSource): readonly EffectReceipt[] {
  if (source.instance.dryRun) return [];
  const steps = effectSteps(source.plan);
  const receipts = new Map<string, EffectReceipt>();
  for (const row of source.rows) {
    const block = steps.get(row.blockId);
    const state = stateOf(row);
    // A fork has copies of rows whose effects are its source's.
    if (block === undefined || state === null || row.createdAt < source.instance.createdAt) continue;
    const receipt = receiptOf(source, block, {
      ...row,
      state,
      startedAt: row.startedAt ?? row.createdAt,
      leaf: null,
    });
    receipts.set(receipt.id, receipt);
  }
  for (const frame of source.frames) {
    const receipt = openReceipt(source, steps, frame);
    if (receipt !== null) receipts.set(receipt.id, receipt);
  }
  // Those that began in the same millisecond stay in the order in which they ended.
  return [...receipts.values()]
    .map((receipt) => compensated(source, receipt))
    .sort((a, b) => a.createdAt - b.createdAt);
}

/** Steps with effects by id, those of cleanup lists too. */
function effectSteps({ inOrder, document }: Plan): ReadonlyMap<string, StepBlock> {
  const hooks = [...(document.on_failure ?? []), ...(document.on_cancel ?? [])];
  const blocks = [...hooks, ...inOrder.map(({ block }) => block)];
  return new Map(
    blocks.flatMap((block) =>
      block.type === 'step' && !WITHOUT_EFFECT.has(block.handler) ? [[block.id, block] as const] : [],
    ),
  );
}

function stateOf({ kind }: HistoryRow): 'committed' | 'unknown' | null {
  switch (kind) {
    case 'result':
    case 'hook':
      return 'committed';
    case 'retry':
    case 'error':
    case 'hook_error':
      return 'unknown';
    case 'breach':
    case 'gate':
    case 'escalation':
    case 'counter':
    case 'variant':
    case 'interceptor':
    case 'sla':
    case 'node':
      return null;
  }
}

/** The attempt under way in a list; null when nothing is. */
function openReceipt(
  source: EffectSource,
  steps: ReadonlyMap<string, StepBlock>,
  frame: Frame,
): EffectReceipt | null {
  const { leaf } = frame;
  const block = steps.get(currentList(source.plan, frame)[frame.cursor]?.id ?? '');
  if (leaf === null || block === undefined || frame.state !== 'open') return null;
  const withWorker = leaf.state === 'waiting' && leaf.taskId !== null;
  if (!withWorker && leaf.dispatchedAt === null) return null;
  const startedAt = leaf.dispatchedAt ?? leaf.startedAt;
  const isTaken = !withWorker || source.claimedBlocks.has(block.id);
  return receiptOf(source, block, {
    iteration: innerIteration(frame),
    runNo: source.instance.runNo,
    attempt: leaf.attempt,
    state: isTaken ? 'dispatched' : 'prepared',
    startedAt,
    createdAt: startedAt,
    leaf,
  });
}

interface Attempt {
  readonly iteration: string;
  readonly runNo: number;
  readonly attempt: number;
  readonly state: EffectReceipt['state'];
  readonly startedAt: number;
  /** Of the last thing that is known of it. */
  readonly createdAt: number;
  readonly leaf: Leaf | null;
}

function receiptOf(source: EffectSource, block: StepBlock, attempt: Attempt): EffectReceipt {
  const { instance } = source;
  const { iteration, runNo } = attempt;
  const isThisRun = runNo === instance.runNo;
  const key = idempotencyKey(instance, { keyRunId: attempt.leaf?.keyRunId ?? null }, block.id, iteration);
  return {
    id: receiptId(instance, block.id, attempt),
    blockId: block.id,
    iteration,
    runNo,
    attempt: attempt.attempt,
    kind: kindOf(source, block.handler),
    state: attempt.state,
    destination: destinationOf(block),
    idempotencyKey: isThisRun ? key : '',
    requestSha256: sha256Hex(canonicalJson([block.handler, block.params ?? null])),
    createdAt: attempt.startedAt,
    updatedAt: attempt.createdAt,
  };
}

function kindOf({ runsInProcess }: EffectSource, handler: string): EffectReceipt['kind'] {
  const known = Object.hasOwn(KINDS, handler) ? KINDS[handler] : undefined;
  if (known !== undefined) return known;
  if (callsModel(handler)) return 'model';
  return runsInProcess(handler) ? 'custom' : 'worker';
}

function destinationOf({ params }: StepBlock): string | null {
  const url = member(params ?? null, 'url');
  const host = typeof url === 'string' ? /^https?:\/\/([^/?#@{}\s]+)/i.exec(url)?.[1] : undefined;
  return host === undefined ? null : sha256Hex(host.toLowerCase()).slice(0, 32);
}

/** The same each time it is asked for, and shaped like a UUID v7 of the instance's creation. */
function receiptId({ id, createdAt }: InstanceRecord, blockId: string, attempt: Attempt): string {
  const time = Math.max(0, Math.floor(createdAt)).toString(16).padStart(12, '0').slice(-12);
  const parts = ['effect', id, blockId, attempt.iteration, attempt.runNo, attempt.attempt];
  const hash = bytesToHex(sha256(utf8ToBytes(JSON.stringify(parts))));
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

/** An action of a saga that its compensation has undone since. */
function compensated({ plan, rows }: EffectSource, receipt: EffectReceipt): EffectReceipt {
  const parent = plan.nodes.get(plan.nodes.get(receipt.blockId)?.parentId ?? '')?.block;
  if (receipt.state !== 'committed' || parent?.type !== 'saga') return receipt;
  const undo = parent.steps.find(({ action }) => action.id === receipt.blockId)?.compensation;
  const undone = rows.find(
    (row) =>
      row.kind === 'result' &&
      row.blockId === undo?.id &&
      row.iteration === receipt.iteration &&
      row.createdAt >= receipt.updatedAt,
  );
  return undone === undefined ? receipt : { ...receipt, state: 'compensated', updatedAt: undone.createdAt };
}
