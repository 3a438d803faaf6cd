import type { APIGatewayProxyResult, LambdaEvent } from 'hono/aws-lambda';
import { err, ok, type Result } from '../../src/core/result.ts';
import { headerBytesOfEither } from '../header-bytes.ts';

/** What is read of an event: of a function URL or an HTTP API (payload 2.0), or of a REST API (1.0). */
interface HttpEvent {
  readonly rawPath?: string | null;
  readonly rawQueryString?: string | null;
  readonly cookies?: readonly string[] | null;
  readonly path?: string | null;
  readonly httpMethod?: string | null;
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueQueryStringParameters?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly requestContext?: {
    readonly domainName?: string;
    readonly http?: { readonly method?: string };
  } | null;
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
}

/**
 * The request of an event, whatever its method is: which of them there are is the API's to say, to those who may know. GET and HEAD
 * have no body. The error is a sentence for the caller.
 */
export function requestOf(given: LambdaEvent): Result<Request, string> {
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the boundary: of the host's formats one's members are there
  const event = given as HttpEvent;
  const method = event.requestContext?.http?.method ?? event.httpMethod ?? 'GET';
  const headers = headersOf(event);
  if (headers === null) return err('a header cannot be read');
  const body = bodyOf(event, method);
  if (body === null) return err('the body is not what the event says: base64');
  headers.delete('content-length');
  if (body.byteLength > 0) headers.set('content-length', String(body.byteLength));
  const init = { headers, ...(body.byteLength > 0 ? { body } : {}) };
  return ok(withMethod(urlOf(event, headers), method, init));
}

/** `Request` refuses some methods, and what is none. */
function withMethod(
  url: string,
  method: string,
  init: { readonly headers: Headers; readonly body?: Uint8Array<ArrayBuffer> },
): Request {
  try {
    return new Request(url, { ...init, method });
  } catch {
    // Of another method it has the same parts.
    const request = new Request(url, { headers: init.headers });
    return Object.defineProperty(request, 'method', { value: method });
  }
}

function urlOf(event: HttpEvent, headers: Headers): string {
  const path = (event.rawPath ?? event.path ?? '').replace(/^(?!\/)/, '/');
  const query = event.rawQueryString ?? queryOf(event);
  const host = event.requestContext?.domainName ?? headers.get('host') ?? '';
  const rest = query === '' ? path : `${path}?${query}`;
  const url = `https://${host}${rest}`;
  return URL.canParse(url) ? url : `https://localhost${rest}`;
}

function queryOf({
  multiValueQueryStringParameters: many,
  queryStringParameters: single,
}: HttpEvent): string {
  const query = new URLSearchParams();
  for (const [name, value] of pairsOf(many ?? single ?? {})) query.append(name, value);
  return query.toString();
}

function headersOf({ headers: single, multiValueHeaders: many, cookies }: HttpEvent): Headers | null {
  const headers = new Headers();
  try {
    for (const [name, value] of pairsOf(many ?? single ?? {}))
      headers.append(name, headerBytesOfEither(value));
    if (cookies?.length) headers.set('cookie', headerBytesOfEither(cookies.join('; ')));
    return headers;
  } catch {
    return null;
  }
}

function pairsOf(
  record: Readonly<Record<string, string | readonly string[] | undefined>>,
): readonly (readonly [string, string])[] {
  return Object.entries(record).flatMap(([name, value = []]) =>
    (typeof value === 'string' ? [value] : value).map((one) => [name, one] as const),
  );
}

/** null: it is not of the form that the event says. */
function bodyOf({ body, isBase64Encoded }: HttpEvent, method: string): Uint8Array<ArrayBuffer> | null {
  if (/^(?:GET|HEAD)$/i.test(method) || body === null || body === undefined) return new Uint8Array(0);
  if (typeof body !== 'string') return null;
  if (isBase64Encoded !== true) return new TextEncoder().encode(body);
  return /^[A-Za-z0-9+/]*={0,2}$/.test(body) && body.length % 4 === 0
    ? Uint8Array.from(Buffer.from(body, 'base64'))
    : null;
}

/** The answer as a whole, as the format of the event has it. */
export async function resultOf(event: LambdaEvent, response: Response): Promise<APIGatewayProxyResult> {
  const type = response.headers.get('content-type');
  const isText =
    !response.headers.has('content-encoding') &&
    (type === null || /^text\/|[/+](?:json|xml)\s*(?:;|$)/i.test(type));
  const bytes = await response.arrayBuffer();
  const body = isText ? new TextDecoder().decode(bytes) : Buffer.from(bytes).toString('base64');
  const answer = { statusCode: response.status, body, isBase64Encoded: !isText };
  const headers = Object.fromEntries(response.headers);
  if (!('multiValueHeaders' in event) || event.multiValueHeaders === undefined) return { ...answer, headers };
  const multiValueHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value]]),
  );
  return { ...answer, multiValueHeaders };
}
