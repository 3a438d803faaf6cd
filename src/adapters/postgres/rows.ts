import type { Frame, Leaf } from '../../core/run/frame.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { WorkerTask } from '../../ports/store/accept.ts';
import type { Frontier, InstanceView } from '../../ports/store/reads.ts';
import type { Claim, Fact, GivenSlot, InboxRow, InstanceRecord } from '../../ports/store/turn.ts';
import type { SqlRows } from './driver.ts';

/**
 * The JSON border of this adapter: what our own SQL functions answer, as types. The functions build these shapes, tests
 * over real servers check them, so they are trusted here and nowhere checked again.
 */

/** Column 0 of row 0: what a function answered. */
export function answerOf<T>(rows: readonly (readonly unknown[])[]): T {
  return rows[0]?.[0] as T;
}

/**
 * The rows of the last statement of a text: libraries answer one result, or a list when the text held several. PGlite
 * gives rows as arrays although its types say objects.
 */
export function lastRows(result: unknown): SqlRows {
  const last = (Array.isArray(result) ? result.at(-1) : result) as { readonly rows: SqlRows } | undefined;
  return last?.rows ?? [];
}

/** A value as the database would give it back: a copy that shares nothing with the caller's. */
export function copyJson<T extends Json>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/**
 * A frame as it is stored: members that say nothing are left out, since every step writes one. Block, branch and
 * iteration are columns (or, for the root list, known).
 */
export interface StoredFrame {
  readonly cursor: number;
  /** Absent for the root list, which has nothing to say there. */
  readonly detail?: Frame['detail'];
  readonly state?: Frame['state'];
  readonly startedAt: number;
  readonly leaf?: StoredLeaf;
  readonly order?: NonNullable<Frame['order']>;
  readonly traced?: string;
  readonly alerted?: NonNullable<Frame['alerted']>;
  readonly unknown?: NonNullable<Frame['unknown']>;
}

/** A leaf without the members that have their value of LEAF_DEFAULTS; the checks it has passed are bits. */
export type StoredLeaf = Pick<Leaf, 'startedAt'> &
  Partial<Omit<Leaf, 'passed'>> & { readonly passed?: number };

const LEAF_DEFAULTS: Omit<Leaf, 'startedAt' | 'passed'> = {
  state: 'running',
  reason: null,
  wakeAt: null,
  attempt: 0,
  dispatchedAt: null,
  redeliveries: 0,
  gate: null,
  taskId: null,
  childId: null,
  childEnd: null,
  keyRunId: null,
  error: null,
};

type OptionalLeafMember = { [K in keyof Leaf]-?: object extends Pick<Leaf, K> ? K : never }[keyof Leaf];

/** Members without a default: absent when they say nothing. A record, so that the compiler asks for each of them. */
const LEAF_OPTIONAL: Record<OptionalLeafMember, true> = {
  deadlineAt: true,
  cacheKey: true,
  offWindow: true,
  input: true,
  taken: true,
  limit: true,
};

const LEAF_MEMBERS = Object.keys({ ...LEAF_DEFAULTS, ...LEAF_OPTIONAL }) as (keyof typeof LEAF_DEFAULTS)[];

/** Member by member, since this runs once or twice per step. */
export function storeFrame(frame: Frame): StoredFrame {
  const stored: { -readonly [K in keyof StoredFrame]: StoredFrame[K] } = {
    cursor: frame.cursor,
    startedAt: frame.startedAt,
  };
  if (frame.detail.kind !== 'root') stored.detail = frame.detail;
  if (frame.state !== 'open') stored.state = frame.state;
  if (frame.leaf !== null) stored.leaf = storeLeaf(frame.leaf);
  if (frame.order !== undefined) stored.order = frame.order;
  if (frame.traced !== undefined) stored.traced = frame.traced;
  if (frame.alerted !== undefined) stored.alerted = frame.alerted;
  if (frame.unknown !== undefined) stored.unknown = frame.unknown;
  return stored;
}

/** Member by member, since this runs once per step: what has its default is left out. */
function storeLeaf(leaf: Leaf): StoredLeaf {
  const stored: Record<string, unknown> = { startedAt: leaf.startedAt };
  for (const name of LEAF_MEMBERS) {
    const value = leaf[name];
    if (value !== LEAF_DEFAULTS[name]) stored[name] = value;
  }
  const { passed } = leaf;
  const bits = (passed.when ? 1 : 0) + (passed.delay ? 2 : 0) + (passed.gate ? 4 : 0);
  if (bits !== 0) stored['passed'] = bits;
  return stored as unknown as StoredLeaf;
}

/** A row of execution_tree: block, branch (-1 for none), iteration, frame. */
export interface FrameAnswer {
  readonly b: string;
  readonly n: number;
  readonly i: string;
  readonly f: StoredFrame;
}

export function readFrames(
  root: StoredFrame | null,
  others: readonly FrameAnswer[] | null,
): readonly Frame[] {
  const frames = (others ?? []).map(readFrame);
  return root === null ? frames : [readFrame({ b: '', n: -1, i: '', f: root }), ...frames];
}

export function readFrame({ b, n, i, f }: FrameAnswer): Frame {
  return {
    blockId: b,
    branch: n === -1 ? null : n,
    iteration: i,
    cursor: f.cursor,
    leaf: f.leaf === undefined ? null : readLeaf(f.leaf),
    detail: f.detail ?? { kind: 'root' },
    state: f.state ?? 'open',
    startedAt: f.startedAt,
    ...(f.order === undefined ? {} : { order: f.order }),
    ...(f.traced === undefined ? {} : { traced: f.traced }),
    ...(f.alerted === undefined ? {} : { alerted: f.alerted }),
    ...(f.unknown === undefined ? {} : { unknown: f.unknown }),
  };
}

function readLeaf({ passed = 0, ...leaf }: StoredLeaf): Leaf {
  return {
    ...LEAF_DEFAULTS,
    ...leaf,
    passed: { when: passed % 2 === 1, delay: Math.floor(passed / 2) % 2 === 1, gate: passed >= 4 },
  };
}

export interface InboxAnswer {
  readonly seq: number;
  readonly id: string;
  readonly at: number;
  readonly kind: Fact['kind'];
  readonly type: string | null;
  readonly payload: Json;
}

export const NO_FACTS: readonly InboxRow[] = [];

export function readInbox(rows: readonly InboxAnswer[] | null): readonly InboxRow[] {
  if (rows === null) return NO_FACTS;
  return rows.map(({ seq, id, at, kind, type, payload }) => ({
    seq,
    id,
    acceptedAt: at,
    // The payload of a fact other than a signal holds exactly its other members; accept_fact's callers see to it.
    fact:
      kind === 'signal'
        ? { kind, signalType: type ?? '', payload }
        : ({ kind, ...(payload as JsonObject) } as unknown as Fact),
  }));
}

export interface ClaimAnswer {
  readonly epoch: number;
  readonly leaseToken: string;
  readonly leaseUntil: number;
  readonly takenOver: boolean;
  readonly among: number;
  readonly mayRun: boolean;
  readonly instance: InstanceRecord;
  readonly root: StoredFrame | null;
  readonly frames: readonly FrameAnswer[] | null;
  readonly inbox: readonly InboxAnswer[] | null;
  readonly keyed: boolean;
  readonly hooks: InstanceRecord['hooks'];
  readonly shape: InstanceRecord['shape'];
  readonly breakers: readonly string[] | null;
}

export function readClaim(answer: ClaimAnswer): Claim {
  const { instance, hooks = null, shape = null } = answer;
  return {
    tenantId: instance.tenantId,
    instanceId: instance.id,
    epoch: answer.epoch,
    leaseToken: answer.leaseToken,
    leaseUntil: answer.leaseUntil,
    instance: {
      ...instance,
      ...(hooks === null ? {} : { hooks }),
      ...(shape === null ? {} : { shape }),
    },
    frames: readFrames(answer.root, answer.frames),
    inbox: readInbox(answer.inbox),
    takenOver: answer.takenOver,
    among: answer.among,
    mayRun: answer.mayRun,
    ...(answer.keyed ? { sharesSlots: true } : {}),
    ...(answer.breakers === null ? {} : { openBreakers: answer.breakers }),
  };
}

export interface ClaimsAnswer {
  readonly now: number;
  readonly claims: readonly ClaimAnswer[];
  readonly given?: readonly GivenSlot[] | null;
  readonly waits?: number | null;
  readonly left?: readonly GivenSlot[] | null;
}

export type ClaimOneAnswer =
  | { readonly status: 'claimed'; readonly now: number; readonly claims: readonly ClaimAnswer[] }
  | { readonly status: 'not_due'; readonly now: number; readonly given?: readonly GivenSlot[] | null }
  | { readonly status: 'suspect'; readonly now: number; readonly company: number }
  | { readonly status: 'not_found' | 'held' | 'terminal'; readonly now: number };

export interface FrontierAnswer {
  readonly instance: InstanceView;
  readonly root: StoredFrame | null;
  readonly frames: readonly FrameAnswer[] | null;
  readonly inbox: readonly InboxAnswer[] | null;
  readonly openTasks: readonly WorkerTask[];
  readonly now: number;
}

export function readFrontier(answer: FrontierAnswer): Frontier {
  return {
    instance: answer.instance,
    frames: readFrames(answer.root, answer.frames),
    inbox: readInbox(answer.inbox),
    openTasks: answer.openTasks,
    now: answer.now,
  };
}
