import type { Failure } from '../core/failure.ts';
import { type Json, copyOfJson } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { callOutput, toJson } from '../core/call-output.ts';
import { lineText } from '../core/storable-text.ts';
import type { ContextView, StepCall, StepHandler, StepOutcome } from '../ports/step-handler.ts';
import type { Clock } from '../ports/system.ts';
import { type EarlySignal, earlySignal } from './early-signal.ts';
import type { DefinedHandler, HandlerContext } from './handler.ts';
import { type StandardIssue, type StandardSchema, violations } from './standard-schema.ts';
import { isStepError, type StepError } from './step-error.ts';

/** The handler as the engine runs it: input checked, context built, result turned into JSON, errors into failures. */
export function toStepHandler(defined: DefinedHandler, clock: Pick<Clock, 'after'>): StepHandler {
  return {
    name: defined.name,
    kind: defined.pure ? 'pure' : 'effect',
    defaults: defined.defaults,
    checkParams: (params) => checkParams(defined, params),
    run: (call) => runCall(defined, call, clock),
  };
}

/** A schema that answers with a promise cannot be asked here; the call itself asks it before anything is done. */
function checkParams(defined: DefinedHandler, params: Json): Failure | null {
  if (defined.input === undefined) return null;
  try {
    const result = defined.input['~standard'].validate(params);
    if (!(result instanceof Promise))
      return result.issues === undefined ? null : inputFailure(defined.name, result.issues);
    // The answer is not waited for, and a rejection must not end the process.
    result.catch(() => undefined);
    return null;
  } catch {
    // A schema that throws is asked again by the call, which knows how to report it.
    return null;
  }
}

async function runCall(
  defined: DefinedHandler,
  call: StepCall,
  clock: Pick<Clock, 'after'>,
): Promise<StepOutcome> {
  const early = earlySignal(call, clock);
  try {
    // A copy: params may share parts with the context that the engine goes on with, and handlers may change their input.
    const input = await parsed(defined.input, copyOfJson(call.params));
    if (!input.ok) return { ok: false, failure: inputFailure(defined.name, input.error) };
    const returned = await defined.run(input.value, handlerContext(call, early));
    const output = await parsed(defined.output, returned);
    if (!output.ok) return { ok: false, failure: outputFailure(defined.name, output.error) };
    const json = callOutput(output.value);
    return json.ok ? { ok: true, output: json.value } : { ok: false, failure: json.error };
  } catch (error) {
    return { ok: false, failure: thrownFailure(error, call, early.signal) };
  } finally {
    early.release();
  }
}

async function parsed(
  schema: StandardSchema | undefined,
  value: unknown,
): Promise<Result<unknown, readonly StandardIssue[]>> {
  if (schema === undefined) return ok(value);
  const result = await schema['~standard'].validate(value);
  return result.issues === undefined ? ok(result.value) : err(result.issues);
}

function handlerContext(call: StepCall, early: Pick<EarlySignal, 'signal'>): HandlerContext {
  let context: ContextView | undefined;
  return {
    instanceId: call.instanceId,
    blockId: call.blockId,
    tenantId: call.tenantId,
    iteration: call.iteration,
    attempt: call.attempt,
    idempotencyKey: call.idempotencyKey,
    attemptKey: call.attemptKey,
    redelivery: call.redelivery,
    get signal() {
      return early.signal;
    },
    remainingTimeMs: call.remainingTimeMs,
    log: {
      debug: (message) => call.log('debug', lineText(message)),
      info: (message) => call.log('info', lineText(message)),
      warn: (message) => call.log('warn', lineText(message)),
      error: (message) => call.log('error', lineText(message)),
    },
    // A copy as well, and only for handlers that ask for it.
    get context() {
      context ??= structuredClone(call.context);
      return context;
    },
    state: { get: async (key) => structuredClone(await call.state.get(key)) },
    dryRun: call.dryRun,
    nowMs: call.nowMs,
  };
}

function inputFailure(name: string, issues: readonly StandardIssue[]): Failure {
  return schemaFailure('INVALID_PARAMS', `${name}: params do not fit the input schema`, issues);
}

function outputFailure(name: string, issues: readonly StandardIssue[]): Failure {
  return schemaFailure(
    'OUTPUT_CONTRACT_VIOLATION',
    `${name}: the result does not fit the output schema`,
    issues,
  );
}

function schemaFailure(code: string, message: string, issues: readonly StandardIssue[]): Failure {
  const list = violations(issues).map(({ pointer, message: text }) => ({
    pointer: lineText(pointer),
    message: lineText(text),
  }));
  const [first] = list;
  const where =
    first === undefined ? '' : `: ${first.pointer === '' ? '' : `${first.pointer} `}${first.message}`;
  return { message: lineText(`${message}${where}`), retryable: false, code, details: { violations: list } };
}

/** What a thrown value means (sequences.md 15.1, [REG-2]). Its stack goes to the step log only. */
function thrownFailure(error: unknown, call: StepCall, signal: AbortSignal): Failure {
  if (isStepError(error)) return stepErrorFailure(error, call);
  if (error instanceof Error && error.stack !== undefined) call.log('error', lineText(error.stack));
  const message = lineText(thrownText(error));
  return { message, retryable: true, code: isStop(error, signal) ? 'TIMEOUT' : 'UNHANDLED_EXCEPTION' };
}

/**
 * True when the handler stopped because it was told to. After a cancel nobody asks for the class any more, so what is
 * left is that its time was used up.
 */
function isStop(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'))
  );
}

function stepErrorFailure(error: StepError, call: StepCall): Failure {
  const details = error.details === undefined ? null : toJson(error.details);
  if (details !== null && !details.ok)
    call.log('warn', lineText(`details of the error are left out: ${details.error}`));
  const waitMs = error.retryAfterMs;
  return {
    message: lineText(error.message),
    retryable: error.retryable !== false,
    code: error.code === undefined || error.code === '' ? 'UNHANDLED_EXCEPTION' : lineText(error.code),
    ...(details?.ok === true ? { details: details.value } : {}),
    ...(typeof waitMs === 'number' && waitMs >= 0 && Number.isFinite(waitMs)
      ? { retryAfterMs: Math.ceil(waitMs) }
      : {}),
  };
}

function thrownText(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  return typeof error === 'string' ? error : 'the handler threw a value that is no Error';
}
