import * as z from 'zod';
import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Json } from '../../core/json.ts';

/** The server that a command talks to. */
export interface Connection {
  readonly url: string;
  readonly tenant: string;
  readonly apiKey: string | undefined;
}

export interface ApiClient {
  readonly get: <T>(path: string, schema: z.ZodType<T>) => Promise<Result<T, Advice>>;
  readonly post: <T>(path: string, body: Json, schema: z.ZodType<T>) => Promise<Result<T, Advice>>;
}

const ErrorBody = z.object({
  error: z.string(),
  details: z.unknown().optional(),
});

/** A small client over fetch. Every failure becomes advice: what is wrong and what to do next. */
export function createApiClient(connection: Connection): ApiClient {
  const send = async <T>(
    method: string,
    path: string,
    body: Json | undefined,
    schema: z.ZodType<T>,
  ): Promise<Result<T, Advice>> => {
    const answer = await request(connection, method, path, body);
    if (!answer.ok) return answer;
    const parsed = schema.safeParse(answer.value);
    if (parsed.success) return ok(parsed.data);
    return err({
      message: `the answer of ${connection.url}${path} is not one of Stepwell`,
      next: 'Check --url: is another server listening there, or another version of Stepwell?',
    });
  };
  return {
    get: (path, schema) => send('GET', path, undefined, schema),
    post: (path, body, schema) => send('POST', path, body, schema),
  };
}

async function request(
  connection: Connection,
  method: string,
  path: string,
  body: Json | undefined,
): Promise<Result<unknown, Advice>> {
  try {
    const response = await fetch(`${connection.url.replace(/\/$/, '')}/api/v1${path}`, {
      method,
      headers: headersFor(connection, body !== undefined),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) return err(refusal(connection, response.status, parseJson(text)));
    return ok(text === '' ? null : parseJson(text));
  } catch {
    return err({
      message: `no server answers at ${connection.url}`,
      next: 'Start one with `stepwell dev` (in a clone: npm start), or name another with --url.',
    });
  }
}

function headersFor(connection: Connection, hasBody: boolean): Record<string, string> {
  return {
    'x-tenant-id': connection.tenant,
    ...(connection.apiKey === undefined ? {} : { 'x-api-key': connection.apiKey }),
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(connection: Connection, status: number, body: unknown): Advice {
  const parsed = ErrorBody.safeParse(body);
  const message = parsed.success ? parsed.data.error : `the server answered with status ${status}`;
  const details = parsed.success && parsed.data.details !== undefined ? parsed.data.details : null;
  const listed = details === null ? '' : `${JSON.stringify(details, null, 2)}\n`;
  return { message, next: `${listed}${nextStep(connection, status)}` };
}

function nextStep(connection: Connection, status: number): string {
  switch (status) {
    case 401:
      return 'Give the key with --api-key or in STEPWELL_API_KEY.';
    case 403:
      return `The key may not do this for tenant ${connection.tenant}; see --tenant.`;
    case 404:
      return `Looked for it in tenant ${connection.tenant} at ${connection.url}; see --tenant and --url.`;
    case 409:
      return 'It is there already, or somebody else was faster. Look at it with `stepwell get`.';
    case 503:
      return 'The server is starting, stopping or without its database; its log says more. Try again.';
    default:
      return status >= 500 ? 'The log of the server says more.' : 'Correct it and try again.';
  }
}
