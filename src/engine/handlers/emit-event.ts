import { sha256Hex } from '../../core/digest.ts';
import type { Failure } from '../../core/failure.ts';
import {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  member,
  utf8Bytes,
} from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { EmitKey } from '../../core/run/outside.ts';
import type { StepCall, StepHandler, StepOutcome } from '../../ports/step-handler.ts';
import type { SequenceRecord, TriggerRecord } from '../../ports/store/catalog.ts';
import { failed, failureOf, fromStore, permanent } from './outcomes.ts';
import { invalidParams, requiredText } from './params.ts';

const NAME = 'emit_event';
const MAX_DATA_BYTES = 4 * 1024 * 1024;
/** Nested emits: each instance knows how many were before it ([EMIT-4]). */
const MAX_DEPTH = 64;

interface EmitParams {
  readonly slug: string;
  readonly data: Json;
  readonly meta: JsonObject;
  readonly dedupeKey: string | null;
  readonly scope: 'parent' | 'tenant';
}

/**
 * `emit_event` (handlers.md 6.1): starts an instance through an event trigger of the tenant, in the commit of the step.
 * With a dedupe key only the first call in its scope does ([EMIT-2]). Result `{"instance_id", "sequence_name", "deduped"}`.
 */
export const emitEventHandler: StepHandler = {
  name: NAME,
  kind: 'pure',
  checkParams: (params) => failureOf(parse(params)),
  dryRun: async (call) => {
    const target = await targetOf(call);
    if (!target.ok) return failed(target.error);
    const { trigger } = target.value;
    const would = { trigger_slug: trigger.slug, sequence_name: trigger.sequenceName };
    const shape = { instance_id: null, sequence_name: trigger.sequenceName, deduped: false };
    return { ok: true, output: { dry_run: true, handler: NAME, would, ...shape } };
  },
  run: emit,
};

async function emit(call: StepCall): Promise<StepOutcome> {
  const target = await targetOf(call);
  if (!target.ok) return failed(target.error);
  const { params, trigger, sequence, depth } = target.value;
  const dedupe = emitKeyOf(params, call);
  if (dedupe !== null) {
    // In the commit the key must still be free: otherwise the step runs again and finds the first one here.
    const first = await fromStore(() => call.services.emitted(dedupe));
    if (!first.ok) return failed(first.error);
    if (first.value !== null) return answer(first.value.instanceId, first.value.sequenceName, true);
  }
  const instanceId = call.services.newId();
  const started = {
    instanceId,
    runId: call.services.newId(),
    namespace: trigger.namespace,
    sequenceId: sequence.id,
    sequenceName: trigger.sequenceName,
    data: params.data,
    metadata: metadataOf(trigger, params, call, depth),
    dedupe,
  };
  const written = answer(instanceId, trigger.sequenceName, false);
  return written.ok ? { ...written, writes: [{ type: 'emit', emit: started }] } : written;
}

function answer(instanceId: string, sequenceName: string, deduped: boolean): StepOutcome {
  return { ok: true, output: { instance_id: instanceId, sequence_name: sequenceName, deduped } };
}

interface Target {
  readonly params: EmitParams;
  readonly trigger: TriggerRecord;
  readonly sequence: SequenceRecord;
  readonly depth: number;
}

/** [EMIT-4]: whether it may be started at all. */
async function targetOf(call: StepCall): Promise<Result<Target, Failure>> {
  const parsed = parse(call.params);
  if (!parsed.ok) return parsed;
  const { slug, data } = parsed.value;
  const depth = depthOf(call.services.ownMetadata) + 1;
  if (depth > MAX_DEPTH)
    return err(permanent('DEPTH_EXCEEDED', `${NAME}: events may start each other ${MAX_DEPTH} deep at most`));
  const found = await fromStore(() => call.services.trigger(slug));
  if (!found.ok) return found;
  if (found.value === null) return err(permanent('TARGET_NOT_FOUND', `${NAME}: there is no trigger ${slug}`));
  const { trigger, sequence } = found.value;
  if (trigger.triggerType !== 'event')
    return err(permanent('INVALID_PARAMS', `${NAME}: trigger ${slug} is no event trigger`));
  if (!trigger.enabled) return err(permanent('TRIGGER_DISABLED', `${NAME}: trigger ${slug} is disabled`));
  if (sequence === null || sequence.status === 'unpublished')
    return err(
      permanent('SEQUENCE_NOT_FOUND', `${NAME}: there is no sequence ${trigger.sequenceName} to start`),
    );
  const problem = await dataProblem(sequence, data, call.services.maxContextBytes);
  return problem === null ? ok({ params: parsed.value, trigger, sequence, depth }) : err(problem);
}

async function dataProblem(
  sequence: SequenceRecord,
  data: Json,
  maxContextBytes: number,
): Promise<Failure | null> {
  const bytes = utf8Bytes(canonicalJson({ data, config: {}, audit: [] }));
  if (maxContextBytes > 0 && bytes > maxContextBytes)
    return permanent(
      'CONTEXT_TOO_LARGE',
      `${NAME}: data makes a context of ${bytes} bytes, limit ${maxContextBytes}`,
    );
  const schema = sequence.definition['input_schema'];
  if (schema === undefined) return null;
  const { validateAgainst } = await import('../../core/definition/json-schema.ts');
  const violations = validateAgainst(schema, data);
  if (violations.length === 0) return null;
  const details = { violations: violations.map(({ pointer, message }) => ({ pointer, message })) };
  return permanent(
    'INPUT_CONTRACT_VIOLATION',
    `${NAME}: data violates the input_schema of ${sequence.name}`,
    details,
  );
}

/** [EMIT-1]: what the engine says about the origin cannot be forged by `meta`. */
function metadataOf(trigger: TriggerRecord, params: EmitParams, call: StepCall, depth: number): JsonObject {
  return {
    _trigger: trigger.slug,
    _trigger_type: trigger.triggerType,
    _trigger_event: { ...params.meta, source: NAME, parent_instance_id: call.instanceId },
    _emit_depth: depth,
  };
}

function depthOf(metadata: JsonObject): number {
  const depth = member(metadata, '_emit_depth');
  return typeof depth === 'number' && depth > 0 ? Math.floor(depth) : 0;
}

/** Without a key one attempt is one event, whatever crashes. */
function emitKeyOf({ dedupeKey, scope }: EmitParams, call: StepCall): EmitKey | null {
  if (dedupeKey === null) return null;
  return { scope: scope === 'tenant' ? '' : call.instanceId, key: sha256Hex(dedupeKey) };
}

function parse(params: Json): Result<EmitParams, Failure> {
  const slug = requiredText(NAME, params, 'trigger_slug');
  if (!slug.ok) return slug;
  const data = member(params, 'data') ?? {};
  const bytes = utf8Bytes(canonicalJson(data));
  if (bytes > MAX_DATA_BYTES)
    return err(invalidParams(NAME, 'data', `has ${bytes} bytes, at most ${MAX_DATA_BYTES} are allowed`));
  const dedupeKey = member(params, 'dedupe_key') ?? null;
  if (dedupeKey !== null && (typeof dedupeKey !== 'string' || dedupeKey === ''))
    return err(invalidParams(NAME, 'dedupe_key', 'must be a text that is not empty'));
  const scope = member(params, 'dedupe_scope') ?? 'parent';
  if (scope !== 'parent' && scope !== 'tenant')
    return err(invalidParams(NAME, 'dedupe_scope', 'must be parent or tenant'));
  const meta = member(params, 'meta') ?? {};
  return ok({
    slug: slug.value,
    data,
    meta: isJsonObject(meta) ? meta : { user_meta: meta },
    dedupeKey,
    scope,
  });
}
