import { canonicalJson, isJsonObject, utf8Bytes, type Json, type JsonObject } from '../core/json.ts';
import { validateAgainst } from '../core/definition/json-schema.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { NewInstance, StartAnswer, StartRequest } from '../ports/store/accept.ts';
import type { Hint } from '../ports/hints.ts';
import type { SequenceRecord } from '../ports/store/catalog.ts';
import { negativeCap } from './budget-caps.ts';
import { activeLimits, checkPlans, planFull } from './entitlements.ts';
import { refuse, type Refusal } from './refusal.ts';
import { checkSession } from './sessions.ts';
import {
  findTarget,
  findTargets,
  type StartInput,
  startInputOf,
  type TargetedStart,
  unknownTarget,
} from './start-target.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface StartedInstance {
  readonly id: string;
  readonly deduplicated: boolean;
  readonly conflict: boolean;
}

/** The longest batch ([INS-9]). */
const MAX_BATCH = 10_000;
/** A batch up to this size starts in this process when there is room; larger ones are hinted at and claimed. */
const MAX_LEASED = 64;

/**
 * Starts one instance ([INS-1] to [INS-8]). Checks in the order of http-api.md 5.2, after the shape: tenant (403),
 * blanks (400), plan, sequence (404), input schema (422), context size (413), then the key (the first instance answers).
 */
export async function startInstance(
  deps: UseCaseDeps,
  caller: Caller,
  asked: TargetedStart,
): Promise<Result<StartedInstance, Refusal>> {
  const scoped = checkScope(caller, asked);
  if (!scoped.ok) return scoped;
  const planned = checkPlans(deps, [scoped.value]);
  if (planned !== null) return err(planned);
  const sequence = await findTarget(deps, scoped.value);
  if (sequence === null) return err(unknownTarget(asked.target));
  const input = startInputOf(scoped.value, sequence);
  const refusal =
    (await checkSession(deps, input)) ?? checkStartable(sequence, input) ?? checkContextSize(deps, input);
  if (refusal !== null) return err(refusal);
  const answer = await startNow(deps, { instances: [newInstance(deps, input)], onKnownKey: 'first' });
  if (answer.status === 'no_sequence') return err(unknownTarget(asked.target));
  if (answer.status === 'plan_full' || answer.status === 'plan_rate') return planFull(deps, answer);
  const started = answer.status === 'ok' ? answer.started[0] : undefined;
  if (started === undefined) throw new Error(`a single start was answered with ${answer.status}`);
  return ok({ id: started.id, deduplicated: started.deduplicated, conflict: started.conflict });
}

/** Starts all or none of a batch ([INS-9]). The error of a bad element begins with `instances[<index>]: `. */
export async function startBatch(
  deps: UseCaseDeps,
  caller: Caller,
  asked: readonly TargetedStart[],
): Promise<Result<number, Refusal>> {
  if (asked.length === 0) return ok(0);
  if (asked.length > MAX_BATCH) return refuse('invalid_argument', 'batch size must not exceed 10,000');
  const scoped: TargetedStart[] = [];
  for (const [index, start] of asked.entries()) {
    const checked = checkScope(caller, start);
    if (!checked.ok) return err(atIndex(index, checked.error));
    scoped.push(checked.value);
  }
  const refusal =
    checkPlans(deps, scoped) ??
    firstRefusal(scoped, (input) => checkContextSize(deps, input)) ??
    repeatedKey(scoped);
  if (refusal !== null) return err(refusal);
  const found = await findBatchSequences(deps, scoped);
  if (!found.ok) return found;
  const noSession = await checkBatchSessions(deps, found.value);
  if (noSession !== null) return err(noSession);
  const answer = await startNow(deps, {
    instances: found.value.map((input) => newInstance(deps, input)),
    onKnownKey: 'conflict',
  });
  if (answer.status === 'known_key') return err(atIndex(answer.index, knownKey));
  if (answer.status === 'no_sequence') return refuse('not_found', 'a sequence of the batch was deleted');
  if (answer.status === 'plan_full' || answer.status === 'plan_rate') return planFull(deps, answer);
  return ok(scoped.length);
}

/**
 * Stores the start. When this process has room it takes the lease with it (RULINGS A37) and goes on in the background.
 */
export async function startNow(deps: UseCaseDeps, request: StartRequest): Promise<StartAnswer> {
  const leased = request.instances.length <= MAX_LEASED && deps.runner.hasRoom();
  const lease = leased ? { lease: deps.runner.newLease() } : {};
  const answer = await deps.store.start({
    ...request,
    requireSequence: true,
    ...activeLimits(deps, request.instances),
    ...lease,
  });
  if (answer.status !== 'ok') return answer;
  const hints: Hint[] = [];
  for (const [index, started] of answer.started.entries()) {
    const instance = request.instances[index];
    if (started.claim !== null) deps.runner.adopt(started.claim);
    else if (!started.deduplicated && instance !== undefined) hints.push(hintFor(instance, answer.now));
  }
  deps.hints.send(hints.filter(({ delayMs }) => delayMs <= MAX_HINT_DELAY_MS));
  return answer;
}

/** Later ones are the sweep's business (RULINGS B15). */
const MAX_HINT_DELAY_MS = 15 * 60_000;

function hintFor({ id, tenantId, nextFireAt }: NewInstance, now: number): Hint {
  return { instanceId: id, tenantId, delayMs: Math.max(0, (nextFireAt ?? now) - now) };
}

/** The row of a start, with ids of its own. */
export function newInstance(deps: Pick<UseCaseDeps, 'ids'>, input: StartInput): NewInstance {
  const { context, ...rest } = input;
  return {
    ...rest,
    ...context,
    id: deps.ids.newId(),
    runId: deps.ids.newId(),
    originalInput: context.data,
  };
}

/** 400 for a version that may not be started ([VER-2]), 422 for data that breaks its `input_schema` ([INS-5]). */
export function checkStartable(sequence: SequenceRecord, input: StartInput): Refusal | null {
  if (sequence.status === 'unpublished') {
    return {
      kind: 'invalid_argument',
      message: `sequence ${sequence.id} is unpublished and cannot be started`,
    };
  }
  const schema = sequence.definition['input_schema'];
  if (!Object.hasOwn(sequence.definition, 'input_schema') || schema === undefined) return null;
  const violations = validateAgainst(schema, input.context.data);
  if (violations.length === 0) return null;
  const list = violations.map(({ pointer, message }) => `${pointer === '' ? '/' : pointer}: ${message}`);
  return {
    kind: 'unprocessable_entity',
    code: 'input_schema_violation',
    message: `context.data violates the input_schema: ${list.join('; ')}`,
    details: violations.map(({ pointer, message }) => ({ pointer, message })),
  };
}

/** 413 when the canonical JSON of the context is larger than allowed ([INS-4]). */
export function checkContextSize(
  deps: Pick<UseCaseDeps, 'limits'>,
  input: Pick<StartInput, 'context'>,
): Refusal | null {
  const limit = deps.limits.maxContextBytes;
  if (limit === 0) return null;
  const { data, config, audit } = input.context;
  const bytes = utf8Bytes(canonicalJson({ data, config, audit }));
  return bytes > limit ? contextTooLarge(bytes, limit) : null;
}

export function contextTooLarge(bytes: number | null, limit: number): Refusal {
  const size = bytes === null ? '' : `${bytes} bytes, `;
  return {
    kind: 'payload_too_large',
    code: 'context_too_large',
    message: `context too large: ${size}limit ${limit} bytes`,
  };
}

function checkScope(caller: Caller, input: TargetedStart): Result<TargetedStart, Refusal> {
  const tenantId = tenantOf(caller, input.tenantId);
  if (!tenantId.ok) return tenantId;
  if (input.namespace.trim() === '') return refuse('invalid_argument', 'namespace must not be empty');
  if (input.maxConcurrency !== null && input.maxConcurrency < 1) {
    return refuse('invalid_argument', 'max_concurrency must be at least 1');
  }
  if (input.idempotencyKey !== null && utf8Bytes(input.idempotencyKey) > 255) {
    return refuse('invalid_argument', 'idempotency_key must not exceed 255 bytes');
  }
  const negative = negativeCap(input.budget);
  if (negative !== null) return negative;
  return ok({ ...input, tenantId: tenantId.value });
}

/** 404 for an unknown sequence, 403 for one of another tenant than the element's, 400 and 422 as for a single start. */
async function findBatchSequences(
  deps: UseCaseDeps,
  starts: readonly TargetedStart[],
): Promise<Result<readonly StartInput[], Refusal>> {
  const sequences = await findTargets(deps, starts);
  const inputs: StartInput[] = [];
  for (const [index, start] of starts.entries()) {
    const sequence = sequences[index] ?? null;
    if (sequence === null) return err(atIndex(index, unknownTarget(start.target)));
    if (sequence.tenantId !== start.tenantId) {
      const message = 'the sequence belongs to another tenant';
      return err(atIndex(index, { kind: 'forbidden', message }));
    }
    const input = startInputOf(start, sequence);
    const refusal = checkStartable(sequence, input);
    if (refusal !== null) return err(atIndex(index, refusal));
    inputs.push(input);
  }
  return ok(inputs);
}

async function checkBatchSessions(deps: UseCaseDeps, inputs: readonly StartInput[]): Promise<Refusal | null> {
  for (const [index, input] of inputs.entries()) {
    const refusal = await checkSession(deps, input);
    if (refusal !== null) return atIndex(index, refusal);
  }
  return null;
}

function repeatedKey(inputs: readonly TargetedStart[]): Refusal | null {
  const seen = new Set<string>();
  return firstRefusal(inputs, ({ tenantId, dryRun, idempotencyKey }) => {
    if (idempotencyKey === null) return null;
    const key = JSON.stringify([tenantId, dryRun, idempotencyKey]);
    if (seen.has(key)) return knownKey;
    seen.add(key);
    return null;
  });
}

const knownKey: Refusal = {
  kind: 'already_exists',
  code: 'idempotency_key_exists',
  message: 'idempotency_key is already in use',
};

function firstRefusal<Start>(
  inputs: readonly Start[],
  check: (input: Start) => Refusal | null,
): Refusal | null {
  for (const [index, input] of inputs.entries()) {
    const refusal = check(input);
    if (refusal !== null) return atIndex(index, refusal);
  }
  return null;
}

function atIndex(index: number, refusal: Refusal): Refusal {
  return { ...refusal, message: `instances[${index}]: ${refusal.message}` };
}

/** `context.data` of a start from outside: an object as it is, anything else under `payload` (http-api.md 12.2). */
export function dataFromPayload(payload: Json | undefined): JsonObject {
  if (payload === undefined) return {};
  return isJsonObject(payload) ? payload : { payload };
}
