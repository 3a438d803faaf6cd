import type { Writable } from 'node:stream';
import type { LambdaContext, LambdaEvent } from 'hono/aws-lambda';
import type { Log } from '../../src/ports/system.ts';
import { answerTo } from './answer-event.ts';
import type { AwsHost } from './compose.ts';
import { type AwsApi, composeApi } from './compose-api.ts';

type StreamingHandler = (event: LambdaEvent, answer: Writable, context: LambdaContext) => Promise<void>;

/** What the runtime of AWS puts beside the code of a function. */
declare const awslambda: {
  streamifyResponse(handler: StreamingHandler): StreamingHandler;
  // The runtime fixes this name.
  readonly HttpResponseStream: { from(answer: Writable, head: AnswerHead): Writable };
};

interface AnswerHead {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The host serves one request at a time. */
const STREAMS_PER_PROCESS = 1;

/**
 * HTTP as `createApiHandler` answers it, but as a stream, which is what events need: for a function URL that streams, of a
 * function of its own (RULINGS B17). Only the runtime of AWS has what it takes, from the moment it loads a handler.
 */
export function createStreamHandler(host: AwsHost): StreamingHandler {
  let opened: Promise<{ readonly api: AwsApi; readonly log: Log }> | null = null;
  return awslambda.streamifyResponse(async (event, answer, context) => {
    opened ??= host().then((parts) => ({ api: composeApi(parts, STREAMS_PER_PROCESS), log: parts.log }));
    const { api, log } = await opened;
    const response = await api.serve(context, () => answerTo(api, event, context));
    const head = { statusCode: response.status, headers: Object.fromEntries(response.headers) };
    await send(response, awslambda.HttpResponseStream.from(answer, head), log);
  });
}

/** A reader that goes ends the answer, and what makes it, too. */
async function send({ body }: Response, answer: Writable, log: Log): Promise<void> {
  const { pipeline } = await import('node:stream/promises');
  try {
    // The host sends the head with the first bytes, also when there are none.
    if (body === null) answer.write('');
    else await pipeline(body, answer, { end: false });
  } catch (error) {
    log.warn('an answer was not read to its end', { error: String(error) });
  } finally {
    answer.end();
  }
}

export { createAwsHost } from './compose.ts';
