/**
 * How a request can be refused (http-api.md 1.5). The kind is the `code` of the reply, the prefix begins its text.
 * Clients look at the status first and then for quoted fragments in the text, so prefixes are part of the contract.
 */
export interface RequestErrorEntry {
  readonly status: number;
  /** Beginning of the text; a prefix without a colon is the whole text when there is nothing to add. */
  readonly prefix: string;
  readonly retryable: boolean;
  /** What the caller can do, in one sentence. */
  readonly nextStep: string;
}

const refused = (status: number, prefix: string, nextStep: string): RequestErrorEntry => ({
  status,
  prefix,
  retryable: false,
  nextStep,
});

const unavailable = (status: number, prefix: string, nextStep: string): RequestErrorEntry => ({
  status,
  prefix,
  retryable: true,
  nextStep,
});

export const REQUEST_ERRORS = {
  invalid_argument: refused(400, 'invalid argument: ', 'Correct the request as the message says.'),
  unauthorized: refused(401, 'unauthorized', 'Send a valid key or the right secret.'),
  forbidden: refused(403, 'forbidden: ', 'Use a key that may do this, and the tenant it belongs to.'),
  not_found: refused(404, 'not found: ', 'Check the id, the path and the tenant.'),
  method_not_allowed: refused(405, 'method not allowed: ', 'Use a method that the Allow header names.'),
  unsupported_media_type: refused(415, 'unsupported media type: ', 'Send content-type: application/json.'),
  already_exists: refused(409, 'already exists: ', 'Use another id, name or version, or read what is there.'),
  conflict: refused(409, 'conflict: ', 'Read the present state and decide again.'),
  /** Approvals only: the gate has expired, or went away with its instance. */
  gone: refused(410, 'gone: ', 'It is too late to decide; look at the instance.'),
  payload_too_large: refused(413, 'payload too large: ', 'Send less, or a reference to the data.'),
  unprocessable_entity: refused(422, 'unprocessable entity: ', 'Correct the member that the message names.'),
  rate_limited: unavailable(
    429,
    'rate limit exceeded: ',
    'Wait as long as Retry-After says and send it again.',
  ),
  internal: unavailable(500, 'internal server error', 'Try again; if it stays, report the request id.'),
  bad_gateway: unavailable(502, 'bad gateway: ', 'Check the receiver of the webhook and try again.'),
  unavailable: unavailable(503, 'unavailable: ', 'Try again shortly; check the health endpoint.'),
} satisfies Record<string, RequestErrorEntry>;

export type RequestErrorKind = keyof typeof REQUEST_ERRORS;

/**
 * The text of a refusal. Details of an internal error never leave the server, so its text is always the same; a kind
 * whose prefix has no colon takes the message after one.
 */
export function requestErrorText(kind: RequestErrorKind, message = ''): string {
  const { prefix } = REQUEST_ERRORS[kind];
  if (kind === 'internal' || message === '') return prefix.replace(/: $/, '');
  return prefix.endsWith(': ') ? prefix + message : `${prefix}: ${message}`;
}
