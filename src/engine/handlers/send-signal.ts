import type { Failure } from '../../core/failure.ts';
import { canonicalJson, isJsonObject, type Json, member, utf8Bytes } from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { StepCall, StepHandler } from '../../ports/step-handler.ts';
import { failed, failureOf, fromStore, permanent } from './outcomes.ts';
import { invalidParams, requiredText } from './params.ts';
import { isUuidText, uuidOfText } from './uuid.ts';

const NAME = 'send_signal';
const PLAIN_TYPES: ReadonlySet<string> = new Set(['pause', 'resume', 'cancel', 'update_context']);
/** As for signals from outside ([SIG-2]). */
const MAX_PAYLOAD_BYTES = 256 * 1024;

interface SignalParams {
  readonly instanceId: string;
  readonly signalType: string;
  readonly payload: Json;
}

/**
 * `send_signal` (handlers.md 6.2): a signal to an instance of the same tenant, also to this one, which goes out in the
 * commit of the step. Its id comes from the attempt, so that a redelivery sends no second one. Result `{"signal_id"}`.
 */
export const sendSignalHandler: StepHandler = {
  name: NAME,
  kind: 'pure',
  checkParams: (params) => failureOf(parse(params)),
  dryRun: async (call) => {
    const checked = await check(call);
    if (!checked.ok) return failed(checked.error);
    const would = { instance_id: checked.value.instanceId };
    return { ok: true, output: { dry_run: true, handler: NAME, would, signal_id: null } };
  },
  run: async (call) => {
    const checked = await check(call);
    if (!checked.ok) return failed(checked.error);
    const signalId = uuidOfText(`signal:${call.attemptKey}`);
    const signal = { ...checked.value, signalId };
    return { ok: true, output: { signal_id: signalId }, writes: [{ type: 'signal', signal }] };
  },
};

/** The target is looked at once more in the commit: when it has ended meanwhile, the step runs again and finds out here. */
async function check(call: StepCall): Promise<Result<SignalParams, Failure>> {
  const parsed = parse(call.params);
  if (!parsed.ok) return parsed;
  const { instanceId } = parsed.value;
  const state = await fromStore(() => call.services.stateOf(instanceId));
  if (!state.ok) return state;
  if (state.value === null)
    return err(permanent('TARGET_NOT_FOUND', `${NAME}: there is no instance ${instanceId}`));
  if (!isTerminal(state.value)) return parsed;
  const message = `${NAME}: instance ${instanceId} is already ${state.value}`;
  return err(permanent('TERMINAL_TARGET', message, { instance_id: instanceId }));
}

function parse(params: Json): Result<SignalParams, Failure> {
  const id = requiredText(NAME, params, 'instance_id');
  if (!id.ok) return id;
  if (!isUuidText(id.value)) return err(invalidParams(NAME, 'instance_id', 'must be a UUID'));
  const signalType = parseType(member(params, 'signal_type'));
  if (!signalType.ok) return signalType;
  const payload = member(params, 'payload') ?? null;
  if (utf8Bytes(canonicalJson(payload)) > MAX_PAYLOAD_BYTES)
    return err(invalidParams(NAME, 'payload', `must not exceed ${MAX_PAYLOAD_BYTES} bytes`));
  return ok({ instanceId: id.value.toLowerCase(), signalType: signalType.value, payload });
}

/** [SIG-1]. */
function parseType(type: Json | undefined): Result<string, Failure> {
  if (type === undefined || type === null) return err(invalidParams(NAME, 'signal_type', 'is required'));
  if (typeof type === 'string' && PLAIN_TYPES.has(type)) return ok(type);
  const custom = isJsonObject(type) ? type['custom'] : customName(type);
  if (typeof custom === 'string' && custom.trim() !== '') return ok(`custom:${custom}`);
  const types = [...PLAIN_TYPES].join(', ');
  return err(invalidParams(NAME, 'signal_type', `must be one of ${types}, or {"custom": name} with a name`));
}

function customName(type: Json): Json | undefined {
  return typeof type === 'string' && type.startsWith('custom:') ? type.slice('custom:'.length) : undefined;
}
