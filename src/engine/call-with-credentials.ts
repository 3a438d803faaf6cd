import { withoutSecrets } from '../core/credentials/references.ts';
import type { Failure } from '../core/failure.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import type { CallOutcome, HandlerCall } from './handler-call.ts';
import { resolveCredentials } from './resolve-credentials.ts';
import type { TurnDeps } from './turn-deps.ts';
import { untilAnswered } from './until-answered.ts';

/** Shorter texts of a credential, such as the name of a user, stand in results by chance. */
const SECRET_CHARACTERS_MIN = 6;

/**
 * Calls with the secrets in place ([CRED-1]); no failure and no result repeats them ([CRED-3]), also when the other side
 * answers with what it was sent.
 */
export async function callWithCredentials(
  deps: TurnDeps,
  call: HandlerCall,
  run: (deps: TurnDeps, call: HandlerCall) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  const { dispatch, record, nowMs } = call;
  const { store, clock } = deps;
  const mayWait = call.mayWait ?? (() => false);
  const getCredential: typeof store.getCredential = (tenantId, id) =>
    untilAnswered(clock, () => store.getCredential(tenantId, id), mayWait);
  const sources = { store: { getCredential }, ...(deps.seal === undefined ? {} : { seal: deps.seal }) };
  const resolved = await resolveCredentials(sources, record.tenantId, dispatch.params, nowMs);
  if (!resolved.ok) return { ok: false, failure: resolved.error };
  const { params, secrets } = resolved.value;
  const outcome = await run(deps, { ...call, dispatch: { ...dispatch, params } });
  if (!outcome.ok) return { ...outcome, failure: cleaned(outcome.failure, secrets) };
  const hidden = record.dryRun ? secrets : secrets.filter((text) => text.length >= SECRET_CHARACTERS_MIN);
  return hidden.length === 0 ? outcome : { ...outcome, output: withoutSecrets(outcome.output, hidden) };
}

function cleaned(failure: Failure, secrets: readonly string[]): Failure {
  const shown: JsonObject = { message: failure.message, details: failure.details ?? null };
  const clean = withoutSecrets(shown, secrets);
  if (!isJsonObject(clean) || typeof clean['message'] !== 'string') return failure;
  const { message, details } = clean;
  return {
    ...failure,
    message,
    ...(failure.details === undefined || details === undefined ? {} : { details }),
  };
}
