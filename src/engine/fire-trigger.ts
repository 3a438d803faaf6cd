import { equalSecrets } from '../core/digest.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { StartRequest } from '../ports/store/accept.ts';
import type { TriggerRecord } from '../ports/store/catalog.ts';
import { checkPlans, planFull } from './entitlements.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import {
  checkContextSize,
  checkStartable,
  dataFromPayload,
  newInstance,
  startNow,
} from './start-instances.ts';
import type { StartInput } from './start-target.ts';
import { sequenceOf } from './triggers.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface Fired {
  readonly instanceId: string;
  readonly slug: string;
  readonly sequenceName: string;
}

/**
 * Starts an instance through a trigger (http-api.md 12.2): 404 unknown, 401 wrong secret, 400 disabled, 404 no version.
 * The payload becomes `context.data`.
 */
export async function fireTrigger(
  deps: UseCaseDeps,
  caller: Caller,
  call: { readonly slug: string; readonly secret: string | undefined; readonly payload: Json | undefined },
): Promise<Result<Fired, Refusal>> {
  const trigger = await deps.store.getTrigger(caller.tenantId, call.slug);
  if (trigger === null) return notFound('trigger', call.slug);
  if (trigger.secret !== null && !equalSecrets(call.secret ?? '', trigger.secret)) {
    return refuse('unauthorized', '');
  }
  if (!trigger.enabled)
    return refuse('invalid_argument', `trigger ${trigger.slug} is disabled`, { code: 'trigger_disabled' });
  const started = await startFromTrigger(deps, trigger, {
    payload: call.payload,
    event: { source: 'http_fire' },
    config: {},
    once: {},
  });
  if (!started.ok) return started;
  // Without nonce there is nothing that could have been used before.
  return started.value === 'nonce_used' ? refuse('conflict', 'the call was repeated') : ok(started.value);
}

export interface TriggerCall {
  readonly payload: Json | undefined;
  /** Becomes `metadata._trigger_event`. */
  readonly event: JsonObject;
  readonly config: JsonObject;
  /** What makes the call count once. */
  readonly once: Pick<StartRequest, 'delivery' | 'nonce'>;
}

/** The start that all ways through a trigger share. Without a pinned version the newest live one is taken. */
export async function startFromTrigger(
  deps: UseCaseDeps,
  trigger: TriggerRecord,
  call: TriggerCall,
): Promise<Result<Fired | 'nonce_used', Refusal>> {
  const sequence = await deps.store.findSequence(sequenceOf(trigger));
  if (sequence === null) return notFound('sequence', trigger.sequenceName);
  const input = startInput(trigger, sequence.id, call);
  const refusal =
    checkStartable(sequence, input) ?? checkContextSize(deps, input) ?? checkPlans(deps, [input]);
  if (refusal !== null) return err(refusal);
  const answer = await startNow(deps, {
    instances: [newInstance(deps, input)],
    onKnownKey: 'first',
    ...call.once,
  });
  if (answer.status === 'nonce_used') return ok('nonce_used');
  if (answer.status === 'no_sequence') return notFound('sequence', trigger.sequenceName);
  if (answer.status === 'plan_full' || answer.status === 'plan_rate') return planFull(deps, answer);
  const started = answer.status === 'ok' ? answer.started[0] : undefined;
  if (started === undefined) throw new Error(`the start of a trigger was answered with ${answer.status}`);
  return ok({ instanceId: started.id, slug: trigger.slug, sequenceName: trigger.sequenceName });
}

function startInput(trigger: TriggerRecord, sequenceId: string, call: TriggerCall): StartInput {
  return {
    sequenceId,
    tenantId: trigger.tenantId,
    namespace: trigger.namespace,
    priority: 1,
    timezone: 'UTC',
    metadata: { _trigger: trigger.slug, _trigger_type: trigger.triggerType, _trigger_event: call.event },
    context: { data: dataFromPayload(call.payload), config: call.config, audit: [] },
    dryRun: false,
    dryRunAutoApprove: false,
    nextFireAt: null,
    concurrencyKey: null,
    maxConcurrency: null,
    idempotencyKey: null,
    sessionId: null,
    budget: null,
  };
}
