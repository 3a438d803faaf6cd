import * as z from 'zod';
import { systemClock, systemEntropy } from '../../adapters/system.ts';
import type { Advice } from '../../core/advice.ts';
import type { Json } from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { ApiError } from '../../sdk/client/api-error.ts';
import { createSend } from '../../sdk/client/send.ts';

const ANSWER_WITHIN_MS = 30_000;

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

/** Calls for commands, over the client of the library. Every failure becomes advice: what is wrong and what to do next. */
export function createApiClient(connection: Connection): ApiClient {
  const send = createSend({
    ...connection,
    timeoutMs: ANSWER_WITHIN_MS,
    // A person waits, and knows best whether to try again.
    maxTries: 1,
    fetch,
    clock: systemClock,
    entropy: systemEntropy,
  });
  const call = async <T>(
    method: 'GET' | 'POST',
    path: string,
    body: Json | undefined,
    schema: z.ZodType<T>,
  ): Promise<Result<T, Advice>> => {
    try {
      const answer = await send<unknown>({ method, path, body, idempotent: method === 'GET' });
      const parsed = schema.safeParse(answer ?? null);
      return parsed.success ? ok(parsed.data) : err(strangeAnswer(connection, path));
    } catch (error) {
      if (error instanceof ApiError) return err(refusal(connection, path, error));
      throw error;
    }
  };
  return {
    get: (path, schema) => call('GET', path, undefined, schema),
    post: (path, body, schema) => call('POST', path, body, schema),
  };
}

function strangeAnswer(connection: Connection, path: string): Advice {
  return {
    message: `the answer of ${connection.url}${path} is not one of Stepwell`,
    next: 'Check --url: is another server listening there, or another version of Stepwell?',
  };
}

function refusal(connection: Connection, path: string, error: ApiError): Advice {
  if (error.status === 0) {
    return {
      message: `no server answers at ${connection.url}`,
      next: 'Start one with `stepwell dev` (in a clone: npm start), or name another with --url.',
    };
  }
  if (error.code === 'unexpected_answer' && error.status < 300) return strangeAnswer(connection, path);
  const isOurs = error.code !== 'unexpected_answer';
  const message = isOurs ? error.message : `the server answered with status ${error.status}`;
  return withProblems(message, error.details, nextStep(connection, error, path));
}

const Problems = z.array(
  z.object({ path: z.string().optional(), pointer: z.string().optional(), message: z.string() }),
);

/** One line for each problem with a body. The message of the API ends with the first one, which is not told twice. */
function withProblems(message: string, details: Json | undefined, next: string): Advice {
  if (details === undefined) return { message, next };
  const problems = Problems.safeParse(details);
  if (!problems.success) return { message, next: `${JSON.stringify(details, null, 2)}\n${next}` };
  const told = message.indexOf(problems.data[0]?.message ?? message);
  if (told > 0 && problems.data.length === 1) return { message, next };
  const lines = problems.data.map(({ path, pointer, message: text }) => `${path ?? pointer ?? ''}: ${text}`);
  return {
    message: told > 0 ? `${message.slice(0, told)}${lines.length} problems` : message,
    next: [...lines, next].join('\n'),
  };
}

function nextStep(connection: Connection, { status, code, message }: ApiError, path: string): string {
  const [, id = '<id>'] = /^\/instances\/([^/?]+)/.exec(path) ?? [];
  if (code === 'instance_terminal') {
    return message.endsWith('failed')
      ? `It takes nothing any more. \`stepwell retry ${id}\` puts it back to work where it failed.`
      : 'It has ended and takes nothing any more. `stepwell start` starts another one.';
  }
  if (message.includes('id: expected a UUID')) {
    return 'Ids are UUIDs, as `stepwell start` and `stepwell list` print them.';
  }
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
