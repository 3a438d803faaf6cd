import { canonicalJson, type Json, type JsonObject, utf8Bytes } from '../core/json.ts';
import type { InstanceState } from '../core/run/states.ts';
import { isTerminal } from '../core/run/states.ts';
import { ok, type Result } from '../core/result.ts';
import type { FoundInstance, InstanceFilter } from '../ports/store/many-instances.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Operation } from './runner.ts';
import { MAX_SIGNAL_PAYLOAD_BYTES } from './send-signal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** The most instances of one call (http-api.md 8). */
export const MAX_INSTANCES = 10_000;
/** Instances that are worked on at the same time, and signals of one transaction. */
const LANES = 16;
const PIECE = 200;

/** A filter as it was sent: the tenant of the call comes first, and one of both must be there. */
export type FilterInput = Omit<InstanceFilter, 'tenantId'> & { readonly tenantId: string | null };

/**
 * Brings all instances that fit into a state, each by its own legal transition and with the effects of a change by hand
 * ([INS-12]); answers how many were changed. Illegal transitions are left out. At most 10,000, longest untouched first.
 */
export async function setManyStates(
  deps: UseCaseDeps,
  caller: Caller,
  input: FilterInput,
  state: InstanceState,
): Promise<Result<number, Refusal>> {
  const filter = filterOf(caller, input);
  if (!filter.ok) return filter;
  const found = await deps.store.findInstances(filter.value, MAX_INSTANCES);
  const fits = found.filter((instance) => instance.state !== state);
  return ok(
    await operateAll(deps, filter.value.tenantId, fits, { kind: 'set_state', state, nextFireAt: null }),
  );
}

/**
 * Moves the time of all `scheduled` instances that fit (12.5); a timer that one of them waits for moves along. Answers how
 * many were moved.
 */
export async function rescheduleMany(
  deps: UseCaseDeps,
  caller: Caller,
  input: FilterInput,
  offsetMs: number,
): Promise<Result<number, Refusal>> {
  const filter = filterOf(caller, input);
  if (!filter.ok) return filter;
  const { states } = filter.value;
  if (states.length > 0 && !states.includes('scheduled')) return ok(0);
  const scheduled = { ...filter.value, states: ['scheduled' as const] };
  const found = await deps.store.findInstances(scheduled, MAX_INSTANCES);
  return ok(await operateAll(deps, filter.value.tenantId, found, { kind: 'reschedule', offsetMs }));
}

export type BatchAction =
  | { readonly kind: 'retry' }
  /** `pause`, `resume`, `cancel` or `custom:<name>`. */
  | { readonly kind: 'signal'; readonly signalType: string; readonly payload: Json };

export interface BatchInput {
  readonly filter: FilterInput;
  readonly action: BatchAction;
  /** The name of the action on the wire, for the audit. */
  readonly name: string;
  readonly dryRun: boolean;
  readonly limit: number;
}

export interface BatchResult {
  readonly matched: number;
  readonly applied: number;
  readonly skipped: number;
  readonly failed: number;
}

/**
 * One action on many instances (20.7): a retry as an operator's, everything else as a signal that is stored. What does not
 * apply (retry of one that has not failed, signal to one that has ended) is skipped; one failure stops nothing.
 */
export async function actOnMany(
  deps: UseCaseDeps,
  caller: Caller,
  input: BatchInput,
): Promise<Result<BatchResult, Refusal>> {
  const filter = filterOf(caller, input.filter);
  if (!filter.ok) return filter;
  const { action } = input;
  if (action.kind === 'signal' && utf8Bytes(canonicalJson(action.payload)) > MAX_SIGNAL_PAYLOAD_BYTES)
    return refuse('payload_too_large', `signal payload exceeds ${MAX_SIGNAL_PAYLOAD_BYTES} bytes`);
  const found = await deps.store.findInstances(filter.value, input.limit);
  const matched = found.length;
  if (input.dryRun) return ok({ matched, applied: 0, skipped: 0, failed: 0 });
  const { tenantId } = filter.value;
  const details = { action: input.name };
  const { applied, skipped } =
    action.kind === 'retry'
      ? await retryAll(deps, tenantId, found, details)
      : await signalAll(deps, tenantId, found, { ...action, details });
  return ok({ matched, applied, skipped, failed: matched - applied - skipped });
}

function filterOf(caller: Caller, input: FilterInput): Result<InstanceFilter, Refusal> {
  const tenantId = caller.tenantId ?? input.tenantId;
  if (tenantId === null || tenantId.trim() === '')
    return refuse('invalid_argument', 'a tenant is required: as x-tenant-id or as filter.tenant_id');
  return ok({ ...input, tenantId });
}

/** Answers how many were done; one that is worked on for too long or fails is left as it is. */
async function operateAll(
  deps: UseCaseDeps,
  tenantId: string,
  found: readonly FoundInstance[],
  operation: Operation,
  onDone: (id: string) => void = () => undefined,
): Promise<number> {
  let done = 0;
  await eachInLanes(deps, found, async ({ id }) => {
    const answer = await deps.runner.operate({ tenantId, instanceId: id }, operation);
    if (answer.status !== 'done') return;
    done += 1;
    onDone(id);
  });
  return done;
}

async function retryAll(
  deps: UseCaseDeps,
  tenantId: string,
  found: readonly FoundInstance[],
  details: JsonObject,
): Promise<Pick<BatchResult, 'applied' | 'skipped'>> {
  const failed = found.filter(({ state }) => state === 'failed');
  const retried: string[] = [];
  const applied = await operateAll(deps, tenantId, failed, { kind: 'retry' }, (id) => retried.push(id));
  await eachInLanes(deps, piecesOf(retried), (ids) =>
    deps.store.noteBatchAction(tenantId, ids, 'failed', details),
  );
  return { applied, skipped: found.length - failed.length };
}

async function signalAll(
  deps: UseCaseDeps,
  tenantId: string,
  found: readonly FoundInstance[],
  signal: { readonly signalType: string; readonly payload: Json; readonly details: JsonObject },
): Promise<Pick<BatchResult, 'applied' | 'skipped'>> {
  const { signalType, payload, details } = signal;
  const live = found.filter(({ state }) => !isTerminal(state));
  let applied = 0;
  let ended = 0;
  // One piece after the other: each locks its instances.
  for (const piece of piecesOf(live)) {
    const signals = piece.map(({ id }) => ({ instanceId: id, signalId: deps.ids.newId() }));
    try {
      const request = { tenantId, signals, signalType, payload, details };
      const taken = await deps.store.signalMany(request);
      applied += taken.size;
      ended += piece.length - taken.size;
      deps.hints.send([...taken].map((instanceId) => ({ tenantId, instanceId, delayMs: 0 })));
    } catch (error) {
      tellFailure(deps, error);
    }
  }
  return { applied, skipped: found.length - live.length + ended };
}

async function eachInLanes<T>(
  deps: UseCaseDeps,
  items: readonly T[],
  act: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const work = async (): Promise<void> => {
    for (const item of queue) {
      try {
        await act(item);
      } catch (error) {
        tellFailure(deps, error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, items.length) }, work));
}

function tellFailure(deps: UseCaseDeps, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  deps.log.warn('an instance of a batch could not be acted on', { error: message });
}

function piecesOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / PIECE) }, (_, index) =>
    items.slice(index * PIECE, (index + 1) * PIECE),
  );
}
