import { compareInstances } from '../../engine/compare-instances.ts';
import { forkInstance, previewFork } from '../../engine/fork-instance.ts';
import type { Edit } from '../../core/run/go-back/edit.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { ok, type Result } from '../../core/result.ts';
import { refuse, type Refusal } from '../../engine/refusal.ts';
import { resumeInstance } from '../../engine/resume-instance.ts';
import { verifyInstance } from '../../engine/verify-instance.ts';
import { created, defineBodyRoute, defineRoute, okay } from '../route.ts';
import {
  ComparedBody,
  ComparePath,
  dataPatch,
  editOf,
  ForkBody,
  ForkedBody,
  ForkPreviewBody,
  ForkPreviewQuery,
  ResumeBody,
  ResumedBody,
  ResumePath,
  VerifiedBody,
} from '../schemas/run-operations.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';

const tag = 'run operations';

const resume = defineBodyRoute({
  method: 'POST',
  path: '/instances/{id}/resume-from/{block_id}',
  tag,
  summary: 'Let a run go on from a block, in any pass of its loops',
  params: ResumePath,
  query: NoParameters,
  body: ResumeBody,
  bodyOptional: true,
  responses: { 200: ResumedBody },
  handle: async (deps, { caller, path, body = NOTHING }) => {
    const change = changeOf(body);
    if (!change.ok) return change;
    const { iteration, signals } = body;
    const input = { instanceId: path.id, blockId: path.block_id, iteration, signals, ...change.value };
    const resumed = await resumeInstance(deps, caller, input);
    if (!resumed.ok) return resumed;
    const { resumedFrom, outputsDeleted, signalsEnqueued } = resumed.value;
    return okay({
      id: path.id,
      state: 'scheduled',
      resumed_from: resumedFrom,
      iteration: resumed.value.iteration,
      outputs_deleted: outputsDeleted,
      signals_enqueued: signalsEnqueued,
    });
  },
});

const fork = defineBodyRoute({
  method: 'POST',
  path: '/instances/{id}/fork',
  tag,
  summary: 'Start a new instance in the middle of this one; a sandbox unless dry_run is false',
  params: IdPath,
  query: NoParameters,
  body: ForkBody,
  responses: { 201: ForkedBody },
  handle: async (deps, { caller, path, body }) => {
    const change = changeOf(body);
    if (!change.ok) return change;
    const { from_block_id: blockId, iteration, signals, dry_run: dryRun, copy_state: copyState } = body;
    const at = { instanceId: path.id, blockId, iteration };
    const forked = await forkInstance(deps, caller, { ...at, signals, dryRun, copyState, ...change.value });
    if (!forked.ok) return forked;
    return created({
      id: forked.value.id,
      forked_from: path.id,
      state: 'scheduled',
      copied_blocks: forked.value.copied.length,
      rerun_blocks: forked.value.rerun,
      dry_run: dryRun,
    });
  },
});

const preview = defineRoute({
  method: 'GET',
  path: '/instances/{id}/fork-preview',
  tag,
  summary: 'What a fork would take over and run again; changes nothing',
  params: IdPath,
  query: ForkPreviewQuery,
  responses: { 200: ForkPreviewBody },
  handle: async (deps, { caller, path, filter }) => {
    const { from_block_id: blockId, iteration } = filter;
    const split = await previewFork(deps, caller, { instanceId: path.id, blockId, iteration });
    // A block that does not exist is a thing that was not found here, and a fault of the body elsewhere.
    if (!split.ok)
      return split.error.code === 'unknown_block' ? { ok: false, error: missing(split.error) } : split;
    return okay({
      instance_id: path.id,
      from_block_id: blockId,
      copied_blocks: split.value.copied,
      re_executed_blocks: split.value.rerun,
      side_effect_blocks: split.value.sideEffects,
      sandbox_default: true,
    });
  },
});

const verify = defineRoute({
  method: 'GET',
  path: '/instances/{id}/verify',
  tag,
  summary: 'Check that what is stored of a run follows from its block outputs',
  params: IdPath,
  query: NoParameters,
  responses: { 200: VerifiedBody },
  handle: async (deps, { caller, path }) => {
    const verified = await verifyInstance(deps, caller, path.id);
    if (!verified.ok) return verified;
    return okay({ instance_id: path.id, ok: verified.value.length === 0, differences: verified.value });
  },
});

const compare = defineRoute({
  method: 'GET',
  path: '/instances/{id}/compare/{other}',
  tag,
  summary: 'Compare two runs by the latest output of each block',
  params: ComparePath,
  query: NoParameters,
  responses: { 200: ComparedBody },
  handle: async (deps, { caller, path }) => {
    const compared = await compareInstances(deps, caller, path.id, path.other);
    if (!compared.ok) return compared;
    const { leftState, rightState, onlyLeft, onlyRight, differing, matchingCount } = compared.value;
    return okay({
      left: path.id,
      right: path.other,
      left_state: leftState,
      right_state: rightState,
      only_left: onlyLeft,
      only_right: onlyRight,
      differing_outputs: differing,
      matching_blocks: matchingCount,
    });
  },
});

export const runOperationRoutes = [resume, fork, preview, verify, compare];

const NOTHING: NonNullable<ResumeBody> = { signals: [], iteration: null };

interface Change {
  readonly data: JsonObject;
  readonly edit: Edit | null;
}

/** What a body changes of the run before it goes on (http-api.md 6.5: 400 for a context that is no object). */
function changeOf(body: {
  readonly context?: Json;
  readonly input?: Json;
  readonly output?: Json;
}): Result<Change, Refusal> {
  const data = dataPatch(body.context);
  if (data === null) return refuse('invalid_argument', 'context must be an object');
  const edit = editOf(body);
  if (edit === 'both') return refuse('invalid_argument', 'give input or output, not both');
  return ok({ data, edit });
}

function missing(error: Refusal): Refusal {
  return { ...error, kind: 'not_found' };
}
