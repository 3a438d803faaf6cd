import type { Block, SequenceDocument } from '../core/definition/document.ts';
import type { Json } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import { Draft } from '../core/run/draft.ts';
import { Knowledge } from '../core/run/knowledge.ts';
import { coversAt } from '../core/run/item-scopes.ts';
import { blockReferences, compilePlan } from '../core/run/plan.ts';
import { findBlock, rootIdsBefore } from '../core/template-trace/find-block.ts';
import { type Sample, sampleRun, sampleScope } from '../core/template-trace/sample-run.ts';
import { type StepView, traceStep, viewOfStep } from '../core/template-trace/step-view.ts';
import type { TemplateTrace } from '../core/template-trace/trace-entry.ts';
import { traceValue } from '../core/template-trace/trace-value.ts';
import { readDraftDocument, readStoredDocument } from './read-document.ts';
import { readNeeds } from './read-needs.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import { stillEnv } from './still-env.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

type Traced = Result<TemplateTrace, Refusal>;

/** A text resolved with a context and outputs that the caller makes up (http-api.md 4.3). */
export function traceText({ ids, clock }: UseCaseDeps, template: string, sample: Sample): TemplateTrace {
  return traceValue(template, sampleScope(sample, stillEnv(ids, clock.nowMs())));
}

export interface InspectRequest extends Sample {
  readonly sequence: { readonly draft: Json } | { readonly id: string };
  readonly blockId: string;
}

/** The params of a step of a draft or a version, resolved with what the caller makes up (http-api.md 4.4). */
export async function inspectTemplate(
  deps: UseCaseDeps,
  caller: Caller,
  { sequence, blockId, ...sample }: InspectRequest,
): Promise<Traced> {
  const document =
    'draft' in sequence
      ? readDraftDocument(caller, sequence.draft)
      : await readStoredDocument(deps, caller, sequence.id);
  if (!document.ok) return document;
  const step = stepOf(document.value, blockId);
  if (!step.ok) return step;
  const draft = sampleRun(compilePlan(document.value), sample, stillEnv(deps.ids, deps.clock.nowMs()));
  return ok(traceStep(draft, step.value, viewOfStep(draft, step.value), 'all'));
}

export interface ResolvedInputRequest {
  readonly instanceId: string;
  readonly blockId: string;
  /** Only outputs of root blocks before this one count; null: all outputs do. */
  readonly atBlock: string | null;
}

/** The params of a step resolved from what its run has now (http-api.md 7.3). 404 instance or block; 400 no step. */
export async function resolvedInput(
  deps: UseCaseDeps,
  caller: Caller,
  { instanceId, blockId, atBlock }: ResolvedInputRequest,
): Promise<Traced> {
  const frontier = await deps.store.getFrontier(caller.tenantId, instanceId);
  if (frontier === null) return notFound('instance', instanceId);
  const { instance: record, frames, now } = frontier;
  const plan = await deps.definitions.planOf(record);
  if (plan === null) return notFound('sequence', record.sequenceId);
  const step = stepOf(plan.document, blockId);
  if (!step.ok) return step;
  const before = atBlock === null ? 'all' : rootIdsBefore(plan.document, atBlock);
  if (before === null) return notFound('block', atBlock ?? '');
  const knowledge = new Knowledge({ hasHistory: record.hasHistory });
  const draft = new Draft({ plan, env: stillEnv(deps.ids, now), knowledge, record, frames });
  draft.ensureRoot();
  const view = viewOfStep(draft, step.value);
  await readAll(deps, draft, step.value, view);
  return ok(traceStep(draft, step.value, view, before));
}

/** Reads what the texts of a block may name, as a turn that comes to it would. */
async function readAll(deps: UseCaseDeps, draft: Draft, block: Block, { place }: StepView): Promise<void> {
  if (coversAt(draft, place, blockReferences(block))) return;
  const needs = draft.knowledge.takeNeeds();
  if (needs === null) return;
  await readNeeds(deps.store, draft, needs);
  return readAll(deps, draft, block, { place, leaf: null });
}

function stepOf(
  document: SequenceDocument,
  blockId: string,
): Result<Extract<Block, { type: 'step' }>, Refusal> {
  const block = findBlock(document, blockId);
  if (block === null) return notFound('block', blockId);
  if (block.type === 'step') return ok(block);
  return refuse('invalid_argument', `block ${blockId} is a ${block.type}, not a step`, {
    code: 'not_a_step',
  });
}
