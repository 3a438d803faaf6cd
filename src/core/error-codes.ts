/**
 * The one table of stable error codes (STYLE 24, 25). A code is the identity of a failure: it stands in error rows, on
 * nodes, in dead letters and in replies, and never changes its meaning; texts may.
 *
 * What ends with the error: `attempt`, one try of a step, after which its retry policy is asked if the code is
 * retryable; `block`, the block at once, which a surrounding block may absorb; `instance`, the whole run; `request`,
 * nothing but the call that was refused.
 */
export interface ErrorCodeEntry {
  readonly scope: 'attempt' | 'block' | 'instance' | 'request';
  /** True when trying the same again may succeed without anybody changing anything. */
  readonly retryable: boolean;
  /** HTTP status when the code answers a request. */
  readonly status?: number;
  /** What a person can do about it, in one sentence. */
  readonly nextStep: string;
}

const again = (nextStep: string): ErrorCodeEntry => ({ scope: 'attempt', retryable: true, nextStep });
const failed = (nextStep: string): ErrorCodeEntry => ({ scope: 'attempt', retryable: false, nextStep });
const block = (nextStep: string): ErrorCodeEntry => ({ scope: 'block', retryable: false, nextStep });
const instance = (nextStep: string): ErrorCodeEntry => ({ scope: 'instance', retryable: false, nextStep });
const answered = (status: number, entry: ErrorCodeEntry): ErrorCodeEntry => ({ ...entry, status });

export const ERROR_CODES = {
  // Any handler.
  INVALID_PARAMS: failed('Correct the named param of the step and publish a new version.'),
  INVALID_OUTPUT: failed('Return JSON only: no functions, symbols, cycles or non-finite numbers.'),
  OUTPUT_TOO_LARGE: failed('Return less, or store the data elsewhere and return a reference.'),
  OUTPUT_CONTRACT_VIOLATION: answered(422, failed('Make the handler return what output_schema asks for.')),
  CONTEXT_TOO_LARGE: answered(413, failed('Keep less in the context, or raise the limit of the context.')),
  TEMPLATE_ERROR: failed('Correct the template in the member the message names.'),
  EXPRESSION_ERROR: block('Correct the expression in when and publish a new version.'),
  CREDENTIAL_ERROR: failed('Check that the credential exists, is enabled, and has the named member.'),
  UNHANDLED_EXCEPTION: again('Read the log of the attempt and correct the handler.'),
  TIMEOUT: again('Raise timeout, or find out why the handler is slow.'),
  STORAGE_ERROR: again('Check the database; the engine tries again by itself.'),
  FORBIDDEN: failed('Use a target that belongs to this instance, or have its policy allow the use.'),
  ATTEMPT_FAILED: block('A person said that the attempt had failed; retry once its cause is gone.'),
  UNKNOWN_OUTCOME: block('Find out whether the effect happened, then retry or skip the step.'),
  DEADLINE_EXCEEDED: block('Raise deadline, or handle the breach with try_catch.'),
  POOL_EMPTY: failed('Enable a resource of the pool the message names, then retry the instance.'),
  POOL_NOT_FOUND: failed('Create the pool the message names, then retry the instance.'),
  CIRCUIT_OPEN: again('Wait for the cooldown, or reset the circuit breaker of the handler.'),

  // Who runs the handler.
  HANDLER_NOT_AVAILABLE: failed('Start a worker that serves this handler, then retry the instance.'),
  PLUGIN_NOT_REGISTERED: failed('Register the plugin under this name, then retry the instance.'),
  QUEUE_TIMEOUT: again('Start more workers for the queue, or raise queue_timeout.'),
  INPUT_CONTRACT_VIOLATION: answered(422, block('Send data that the input_schema accepts.')),

  // Built-in handlers.
  ASSERTION_FAILED: failed('Look at the condition in details and at the data it judged.'),
  RESERVED_KEY: failed('Use a state key that does not begin with two underscores.'),
  STATE_LIMIT: failed('Delete state keys that are no longer needed, or keep the data elsewhere.'),
  BLOCKED_URL: failed('Use a public http or https address without user info.'),
  DNS_ERROR: again('Check the host name and the name service.'),
  NETWORK_ERROR: again('Check that the other side is reachable; a retry policy bridges short gaps.'),
  HTTP_ERROR: again('Look at details.status and details.body for what the other side says.'),
  BAD_RESPONSE: failed('The other side did not answer with JSON; check the address and response_as.'),
  RESPONSE_TOO_LARGE: failed('Ask the other side for less, or store the response as an artifact.'),
  MCP_ERROR: failed('Look at details for what the tool server says.'),
  TARGET_NOT_FOUND: failed('Check the id or slug, and that it belongs to the same tenant.'),
  TRIGGER_DISABLED: failed('Enable the trigger, or emit to another one.'),
  TERMINAL_TARGET: answered(400, failed('The target has ended; signal a running instance.')),
  INVALID_BLOCKS: answered(400, failed('Correct the blocks the message names; ids must be new.')),
  CONTINUE_NOT_ALLOWED: answered(400, failed('Move continue_as_new out of finally, compensation and scope.')),
  ALL_PROVIDERS_FAILED: failed('Look at details for the error of each provider.'),
  SCHEMA_UNSATISFIED: failed('Loosen response_schema, or explain the form in the prompt.'),

  // Composite blocks.
  SEQUENCE_NOT_FOUND: block('Publish the sequence the block names, in the same namespace.'),
  CHILD_FAILED: block('Open the child instance named in details.'),
  CHILD_CANCELLED: block('Find out who cancelled the child instance named in details.'),
  DEPTH_EXCEEDED: block('Break the chain of sub-sequences; they nest at most 16 deep.'),
  ITERATION_LIMIT: block('Raise max_iterations, or find out why the blocks keep repeating.'),

  // People.
  HUMAN_INPUT_TIMEOUT: block('Nobody answered in time; raise timeout or name an escalation_handler.'),
  HUMAN_TIMEOUT: block('The approval expired; raise expires_in or set on_expire.'),
  HUMAN_REJECTED: block('A person said no; the note in details may say why.'),
  APPROVAL_KEY_TAKEN: block('Make the approval key unique, for example by adding the item to it.'),

  // Durable functions.
  DUPLICATE_STEP_KEY: failed('Give each step of the function a key of its own.'),
  NON_DETERMINISTIC: failed('Do not change the order of steps in a function with running instances.'),
  SERIALIZATION_ERROR: failed('Return a smaller value that can be written as JSON.'),

  // The whole instance.
  MAX_RETRIES_EXCEEDED: instance('The process died while it ran the named step; find out why, then retry.'),
  MAX_STEPS_EXCEEDED: instance('Raise the limit of steps, or find out why the run is so long.'),
  MAX_LEGS_EXCEEDED: instance('Raise max_legs, or end the run instead of continuing it.'),
  RUN_TIMEOUT: instance('Raise run_timeout, or find out where the time went.'),
} satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The entry of a code, or undefined for codes of user handlers, which are free. */
export function errorCodeEntry(code: string): ErrorCodeEntry | undefined {
  return isErrorCode(code) ? ERROR_CODES[code] : undefined;
}

/** True for a code of the engine. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
