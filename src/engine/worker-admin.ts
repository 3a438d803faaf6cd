import { isDotSegment } from '../core/dot-segments.ts';
import type { Json } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import { isVersion } from '../core/worker-versions.ts';
import type { NewRoutingRule, RoutingRule, VersionPin, WorkerCommand } from '../ports/store/worker-admin.ts';
import { refuse, type Refusal, unreachable } from './refusal.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** Leaves a command for a worker (http-api.md 19.5): 400 blank worker. */
export async function sendCommand(
  deps: UseCaseDeps,
  input: { readonly workerId: string; readonly command: WorkerCommand['command']; readonly payload: Json },
): Promise<Result<WorkerCommand, Refusal>> {
  if (input.workerId.trim() === '') return refuse('invalid_argument', 'worker_id must not be empty');
  if (isDotSegment(input.workerId)) return unreachable('worker_id');
  return ok(await deps.store.insertCommand({ id: deps.ids.newId(), ...input }));
}

/** Creates or replaces a pin: 403 for another tenant than the call's, 400 blank fields or what is no version. */
export async function pinVersion(
  deps: UseCaseDeps,
  caller: Caller,
  pin: { readonly tenantId: string; readonly handlerName: string; readonly minVersion: string },
): Promise<Result<VersionPin, Refusal>> {
  const tenantId = tenantOf(caller, pin.tenantId);
  if (!tenantId.ok) return tenantId;
  const { handlerName } = pin;
  if (handlerName.trim() === '') return refuse('invalid_argument', 'handler_name must not be empty');
  if (isDotSegment(handlerName)) return unreachable('handler_name');
  const minVersion = pin.minVersion.trim();
  if (!isVersion(minVersion)) {
    return refuse('invalid_argument', 'min_version must be a version such as 1.9.0');
  }
  return ok(await deps.store.putVersionPin(tenantId.value, handlerName, minVersion));
}

/** Adds a routing rule (http-api.md 20): 403 for another tenant than the call's, 400 blank names. */
export async function addRoutingRule(
  deps: UseCaseDeps,
  caller: Caller,
  rule: Omit<NewRoutingRule, 'id'>,
): Promise<Result<RoutingRule, Refusal>> {
  const tenantId = tenantOf(caller, rule.tenantId);
  if (!tenantId.ok) return tenantId;
  if (rule.handlerName.trim() === '') return refuse('invalid_argument', 'handler_name must not be empty');
  if (rule.queueOverride.trim() === '') return refuse('invalid_argument', 'queue_override must not be empty');
  return ok(await deps.store.insertRoutingRule({ ...rule, id: deps.ids.newId() }));
}
