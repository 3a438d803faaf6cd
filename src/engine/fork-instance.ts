import { validateAgainst } from '../core/definition/json-schema.ts';
import { type JsonObject, jsonObject } from '../core/json.ts';
import { Draft } from '../core/run/draft.ts';
import type { Edit } from '../core/run/go-back/edit.ts';
import { type Forked, forkRun } from '../core/run/go-back/fork-run.ts';
import type { Refused } from '../core/run/go-back/refused.ts';
import { type SplitBlocks, splitBlocks } from '../core/run/go-back/split-blocks.ts';
import { Knowledge } from '../core/run/knowledge.ts';
import type { Plan } from '../core/run/plan.ts';
import type { InstanceRecord } from '../core/run/record.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { NewInstance } from '../ports/store/accept.ts';
import type { History } from '../ports/store/history.ts';
import { BUILT_IN_NAMES } from './handlers/handler-names.ts';
import { randomValues } from './handlers/random-values.ts';
import { type QueuedSignal, withIds } from './queued-signals.ts';
import { readNeeds } from './read-needs.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import { refusalOf } from './resume-instance.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface ForkInput {
  readonly instanceId: string;
  readonly blockId: string;
  /** Path of the passes around the block; null for the last ones that were begun. */
  readonly iteration: string | null;
  readonly data: JsonObject;
  readonly edit: Edit | null;
  /** A sandbox: nothing outside is touched (chapter 19). */
  readonly dryRun: boolean;
  readonly copyState: boolean;
  readonly signals: readonly QueuedSignal[];
}

export interface ForkedInstance extends SplitBlocks {
  readonly id: string;
}

/** A source that moves all the time is not chased for ever. */
const TRIES_MAX = 8;
/** Results of a handler ([DISP-2]). */
const MAX_OUTPUT_BYTES = 8_388_608;

/**
 * Starts a new instance in the middle of another one's run, from a block anywhere in the tree and in any pass ([OP-7],
 * [OP-8]). The source may be in any state, is read at one instant and stays as it is. 404 unknown instance, 400 for a
 * block that is unknown or was not reached, 409 when the key/value store of a source that moves cannot be had, 413, 422.
 */
export async function forkInstance(
  deps: UseCaseDeps,
  caller: Caller,
  input: ForkInput,
): Promise<Result<ForkedInstance, Refusal>> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const prepared = await prepare(deps, caller, input);
    if (!prepared.ok) return prepared;
    const { source, instance, forked, plan, runNo } = prepared.value;
    const { tenantId } = source.instance;
    const journal = [{ id: deps.ids.newId(), kind: 'forked', details: detailsOf(input, source, runNo) }];
    const answer = await deps.store.fork({
      source: { tenantId, instanceId: source.instance.id },
      instance,
      runNo,
      copied: forked.copied.map(({ blockId, rev, ordinal }) => ({
        blockId,
        rev,
        ordinal,
        copyId: deps.ids.newId(),
      })),
      rows: forked.rows,
      frames: forked.frames,
      stateAtRev: input.copyState ? source.instance.rev : null,
      signals: withIds(deps, input.signals),
      journal,
    });
    if (answer === 'not_found') return notFound('instance', input.instanceId);
    if (answer === 'moved') continue;
    deps.hints.send([{ tenantId, instanceId: instance.id, delayMs: 0 }]);
    return ok({ id: instance.id, ...splitBlocks(plan, instance.id, forked) });
  }
  return refuse('conflict', `instance ${input.instanceId} moves on too fast, pause it first`, {
    code: 'instance_busy',
  });
}

/** What a fork would take over and run again; changes nothing. */
export async function previewFork(
  deps: UseCaseDeps,
  caller: Caller,
  at: Pick<ForkInput, 'instanceId' | 'blockId' | 'iteration'>,
): Promise<Result<SplitBlocks, Refusal>> {
  const nothing = { data: {}, edit: null, dryRun: true, copyState: false, signals: [] };
  const prepared = await prepare(deps, caller, { ...at, ...nothing });
  if (!prepared.ok) return prepared;
  const { plan, instance, forked } = prepared.value;
  return ok(splitBlocks(plan, instance.id, forked));
}

interface Prepared {
  readonly source: History;
  readonly plan: Plan;
  readonly instance: NewInstance;
  readonly runNo: number;
  readonly forked: Forked;
}

async function prepare(
  deps: UseCaseDeps,
  caller: Caller,
  input: ForkInput,
): Promise<Result<Prepared, Refusal>> {
  const source = await deps.store.getHistory(caller.tenantId, input.instanceId);
  if (source === null) return notFound('instance', input.instanceId);
  const plan = await deps.definitions.planOf(source.instance);
  if (plan === null) return notFound('sequence', source.instance.sequenceId);
  // Above the runs that the copied rows are of.
  const runNo = source.instance.runNo + 1;
  const instance = newFork(deps, source, input);
  const draft = draftOfFork(deps, plan, source, { instance, runNo });
  const forked = await forkWith(deps, draft, source, input);
  if (!forked.ok) return refusalOf(forked.error);
  return ok({
    source,
    plan,
    instance: { ...instance, data: draft.record.data },
    runNo,
    forked: forked.value,
  });
}

async function forkWith(
  deps: UseCaseDeps,
  draft: Draft,
  source: History,
  input: ForkInput,
): Promise<Result<Forked, Refused>> {
  const { rows, frames, instance } = source;
  for (let reading = 0; reading < 64; reading += 1) {
    const forked = forkRun(draft, { state: instance.state, rows, frames }, input);
    if (forked !== 'needs_items') return forked.ok ? ok(forked.value) : err(forked.error);
    const needs = draft.knowledge.takeNeeds();
    if (needs === null) continue;
    // Items are read where they are stored: the fork does not exist yet.
    await readNeeds(deps.store, draft, needs, { tenantId: instance.tenantId, instanceId: instance.id });
  }
  throw new Error(`the items around ${input.blockId} cannot be read`);
}

/** Keys of the metadata that the engine writes and that are about the source alone. */
const OF_THE_SOURCE: ReadonlySet<string> = new Set([
  'paused_reason',
  'budget_breach',
  '_injected_blocks',
  '_parent_block_id',
  '_sub_sequence_depth',
]);

/** [OP-8]: not taken over are keys of idempotency and concurrency, session and parent. */
function newFork(deps: UseCaseDeps, { instance }: History, input: ForkInput): NewInstance {
  const kept = Object.entries(instance.metadata).filter(([key]) => !OF_THE_SOURCE.has(key));
  const about = { forked_from: instance.id, forked_at_block: input.blockId, sandbox: input.dryRun };
  return {
    id: deps.ids.newId(),
    runId: deps.ids.newId(),
    tenantId: instance.tenantId,
    namespace: instance.namespace,
    sequenceId: instance.sequenceId,
    priority: instance.priority,
    timezone: instance.timezone,
    metadata: jsonObject([...kept, ...Object.entries(about)]),
    data: instance.data,
    config: instance.config,
    audit: instance.audit,
    nextFireAt: null,
    concurrencyKey: null,
    maxConcurrency: null,
    idempotencyKey: null,
    sessionId: null,
    budget: instance.budget,
    dryRun: input.dryRun,
    dryRunAutoApprove: input.dryRun && instance.dryRunAutoApprove,
    originalInput: null,
  };
}

function draftOfFork(
  deps: UseCaseDeps,
  plan: Plan,
  source: History,
  { instance, runNo }: { readonly instance: NewInstance; readonly runNo: number },
): Draft {
  const { random, uuid } = randomValues(deps.entropy);
  const record: InstanceRecord = {
    ...source.instance,
    ...instance,
    nextFireAt: source.now,
    state: 'scheduled',
    runNo,
    parent: null,
    depth: 0,
    createdAt: source.now,
    startedAt: null,
    rev: 1,
    totalSteps: 0,
    recoveryCount: 0,
    cancelRequestedAt: null,
    currentStep: null,
    usage: null,
    hooks: null,
  };
  const inProcess = new Set(deps.handlerNames);
  return new Draft({
    plan,
    env: {
      now: source.now,
      newId: () => deps.ids.newId(),
      uuid,
      random,
      maxContextBytes: deps.limits.maxContextBytes,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      validateAgainst,
      kindOf: (name) => (inProcess.has(name) || BUILT_IN_NAMES.has(name) ? 'effect' : 'worker'),
      defaultsOf: () => ({}),
    },
    knowledge: new Knowledge({ hasHistory: true }),
    record,
    frames: [],
  });
}

function detailsOf(input: ForkInput, { instance }: History, runNo: number): JsonObject {
  const { blockId, iteration, edit, dryRun, copyState } = input;
  return {
    forked_from: instance.id,
    block_id: blockId,
    iteration,
    run_no: runNo,
    dry_run: dryRun,
    copy_state: copyState,
    ...(edit === null ? {} : { edited: edit.kind, by: 'person', value: edit.value }),
  };
}
