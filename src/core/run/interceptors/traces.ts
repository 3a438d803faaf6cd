import type { Interceptor, StepBlock } from '../../definition/document.ts';
import { type Json, type JsonObject, isJsonObject, mergeObjects } from '../../json.ts';
import type { Draft } from '../draft.ts';
import type { Dispatch } from '../env.ts';
import { type Frame, type Leaf, ROOT_KEY } from '../frame.ts';
import { currentList, innerIteration } from '../plan.ts';
import type { InboxRow } from '../record.ts';
import type { Invocation } from './invocation.ts';

/**
 * Traces of interceptors (18.1). They are rows of the commits that are made anyway: before an attempt with its intent or,
 * where the claim is the intent, with its outcome; after it with its outcome. An interceptor that is really called
 * ([INT-5]) leaves an invocation, which the engine carries out before the commit and puts into the row.
 */
interface Trace {
  readonly blockId: string;
  readonly iteration: string;
  readonly attempt: number;
  readonly interceptor: Interceptor;
  readonly roots: JsonObject;
  /** What the row holds when the handler is not called. */
  readonly output: Json;
}

/** The attempt of a step that is about to be dispatched. */
export interface Attempted {
  readonly blockId: string;
  readonly iteration: string;
  readonly attempt: number;
  readonly handler: string;
}

/** [INT-1], [INT-2]: a step that is not called by a dispatch (a worker's, a sleep) is traced at once. */
export function traceBefore(draft: Draft, of: Attempted): void {
  const interceptor = draft.plan.document.interceptors?.before_step;
  if (interceptor !== undefined) addTrace(draft, stepTrace('before', interceptor, of));
}

/** Of a dispatch: what its row will hold; the engine puts the answer of an invoked handler in its place. */
export function beforeOf(
  draft: Draft,
  frame: Frame,
  block: StepBlock,
  leaf: Leaf,
): { readonly output: Json } | null {
  const interceptor = draft.plan.document.interceptors?.before_step;
  if (interceptor === undefined) return null;
  if (isTraced(draft, frame, attemptKey(draft, attemptOf(frame, block, leaf)))) return null;
  return { output: interceptor.params ?? null };
}

/** What an invoked `before_step` is called with for a dispatch, before the dispatch is; null when it is not to be called. */
export function invocationBefore(draft: Draft, dispatch: Dispatch): Invocation | null {
  const interceptor = draft.plan.document.interceptors?.before_step;
  if (interceptor?.invoke !== true || dispatch.before === undefined) return null;
  const { blockId, ...trace } = stepTrace('before', interceptor, dispatch);
  return { ...trace, blockId, rowId: '' };
}

/**
 * The rows go with the intents; both versions of the frame remember it, since the rows stay when an intent does not. What
 * a limit may deny, or has to be called first, comes with the outcome.
 */
export function traceIntents(draft: Draft): void {
  const interceptor = draft.plan.document.interceptors?.before_step;
  if (interceptor === undefined || interceptor.invoke === true) return;
  for (const dispatch of draft.ready) {
    if (!draft.intents.isCertain(dispatch.frameKey)) continue;
    if (addBefore(draft, dispatch, dispatch.before))
      draft.annotate(dispatch.frameKey, { traced: attemptKey(draft, dispatch) });
  }
}

/** The row of a dispatch whose intent was not committed comes with its outcome. */
export function traceLate(
  draft: Draft,
  dispatch: Dispatch,
  answered: { readonly output: Json } | undefined,
): void {
  const isTold = draft.plan.document.interceptors !== undefined;
  if (!isTold && draft.frames.get(ROOT_KEY)?.tracedApart === undefined) return;
  const frame = draft.frames.get(dispatch.frameKey);
  const key = attemptKey(draft, dispatch);
  if (!isTraced(draft, frame, key)) addBefore(draft, dispatch, answered ?? dispatch.before);
  const apart = draft.frames.get(ROOT_KEY)?.tracedApart ?? [];
  if (apart.includes(key)) draft.annotate(ROOT_KEY, { tracedApart: apart.filter((other) => other !== key) });
}

function isTraced(draft: Draft, frame: Frame | undefined, key: string): boolean {
  return frame?.traced === key || draft.frames.get(ROOT_KEY)?.tracedApart?.includes(key) === true;
}

/**
 * A step whose intent was not granted has its trace all the same. When others come to stand before it, its frame is about
 * them; the root list's remembers then that the trace is there. Those of earlier runs are over.
 */
export function tracedApart(draft: Draft, planted: ReadonlyMap<string, Frame>): readonly string[] {
  const known = [...draft.frames.values()].flatMap((frame) => [
    ...(frame.tracedApart ?? []),
    ...tracedAtCursor(draft, frame),
  ]);
  const kept = new Set([...planted.values()].map(({ traced }) => traced));
  return known.filter((key) => !kept.has(key) && key.startsWith(`${draft.record.runNo}#`));
}

function tracedAtCursor(draft: Draft, frame: Frame): readonly string[] {
  const block = currentList(draft.plan, frame)[frame.cursor];
  const isAboutIt = frame.traced?.endsWith(`#${innerIteration(frame)}#${block?.id ?? ''}`) === true;
  return isAboutIt && frame.traced !== undefined ? [frame.traced] : [];
}

function addBefore(draft: Draft, dispatch: Dispatch, before: { readonly output: Json } | undefined): boolean {
  if (before === undefined) return false;
  addRow(draft, {
    blockId: `_interceptor:before:${dispatch.blockId}`,
    iteration: dispatch.iteration,
    attempt: dispatch.attempt,
    output: before.output,
  });
  return true;
}

/** [INT-2]: the attempt of a leaf has ended and what became of it is recorded. What was never dispatched leaves none. */
export function traceAfter(draft: Draft, frame: Frame, leaf: Leaf): void {
  const interceptor = draft.plan.document.interceptors?.after_step;
  if (interceptor === undefined || leaf.dispatchedAt === null) return;
  const block = currentList(draft.plan, frame)[frame.cursor];
  if (block?.type !== 'step') return;
  addTrace(draft, stepTrace('after', interceptor, attemptOf(frame, block, leaf)));
}

export function attemptOf(frame: Frame, block: StepBlock, leaf: Leaf): Attempted {
  const iteration = innerIteration(frame);
  return { blockId: block.id, iteration, attempt: leaf.attempt, handler: block.handler };
}

function stepTrace(when: 'before' | 'after', interceptor: Interceptor, of: Attempted): Trace {
  const { blockId, iteration, attempt, handler } = of;
  return {
    blockId: `_interceptor:${when}:${blockId}`,
    iteration,
    attempt,
    interceptor,
    roots: { step: { id: blockId, handler, attempt } },
    output: interceptor.params ?? null,
  };
}

/** What the rows of the traces of a step are called. */
export function tracesOf(blockId: string): readonly string[] {
  return ['before', 'after'].map((when) => `_interceptor:${when}:${blockId}`);
}

/** [INT-3]. */
export function traceSignal(draft: Draft, { fact }: InboxRow): void {
  const interceptor = draft.plan.document.interceptors?.on_signal;
  if (interceptor === undefined || fact.kind !== 'signal') return;
  const { signalType, payload } = fact;
  const custom = signalType.startsWith('custom:') ? { custom: signalType.slice('custom:'.length) } : null;
  const signal = { _signal: { signal_type: custom ?? signalType, payload } };
  const params = interceptor.params ?? null;
  addTrace(draft, {
    blockId: '_interceptor:on_signal',
    iteration: '',
    attempt: 0,
    interceptor,
    roots: { signal: { type: signalType, payload } },
    output: isJsonObject(params) ? mergeObjects(params, signal) : { _params: params, ...signal },
  });
}

/** [INT-4]. */
export function traceEnd(draft: Draft, end: 'on_complete' | 'on_failure'): void {
  const interceptor = draft.plan.document.interceptors?.[end];
  if (interceptor === undefined) return;
  addTrace(draft, {
    blockId: `_interceptor:${end}`,
    iteration: '',
    attempt: 0,
    interceptor,
    roots: {},
    output: interceptor.params ?? null,
  });
}

function addTrace(draft: Draft, trace: Trace): void {
  const { interceptor, roots, output, ...of } = trace;
  const invoked = interceptor.invoke === true;
  const rowId = addRow(draft, { ...of, output: invoked ? null : output });
  if (invoked) draft.invocations.push({ ...of, interceptor, roots, rowId });
}

function addRow(
  draft: Draft,
  of: {
    readonly blockId: string;
    readonly iteration: string;
    readonly attempt: number;
    readonly output: Json;
  },
): string {
  return draft.addRow({ ...of, kind: 'interceptor', startedAt: null });
}

/** Names an attempt within its instance; made of all that tells two of them apart, so that it is never mistaken. */
function attemptKey(draft: Draft, of: Pick<Attempted, 'blockId' | 'iteration' | 'attempt'>): string {
  const { blockId, iteration, attempt } = of;
  return `${draft.record.runNo}#${attempt}#${iteration}#${blockId}`;
}
