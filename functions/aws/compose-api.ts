import { type APIGatewayProxyResult, handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda';
import { createLazyApi } from '../../src/api/create-lazy-api.ts';
import { createRequestRunner } from '../../src/engine/request-runner.ts';
import { apiDeps } from '../api-deps.ts';
import type { AwsParts } from './compose.ts';
import { keepWake } from './economy.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Answers one HTTP event. Resolves when nothing of the request runs any more. */
export type AnswerEvent = (event: LambdaEvent, context: LambdaContext) => Promise<APIGatewayProxyResult>;

/** The API over the parts of this host. Throws when nobody would have to show a key and that was not asked for. */
export function composeApi(parts: AwsParts): AnswerEvent {
  const { engine, settings, version } = parts;
  const runner = createRequestRunner(engine);
  const { log, node } = engine.deps;
  const app = createLazyApi(apiDeps({ engine, runner, settings, version, peerOf }));
  const answer = handle(app);
  return async (event, context) => {
    const shown = node?.beatWhenDue().catch((error: unknown) => {
      log.warn('the sign of life could not be given', { error: String(error) });
    });
    try {
      // Whoever only reads leaves nothing behind.
      if (!READS.has(methodOf(event))) await keepWake(parts, context);
      return await answer(event, context);
    } finally {
      await shown;
      await runner.settled();
    }
  };
}

function methodOf(event: LambdaEvent): string {
  const method = ['requestContext', 'http', 'method'].reduce(memberOf, event);
  return typeof method === 'string' ? method : 'unknown';
}

/** Function URLs and HTTP APIs (payload 2.0) name the peer here; it is shown in the log and told to rate limits only. */
function peerOf(hostEnv: unknown): string {
  const sourceIp = ['requestContext', 'http', 'sourceIp'].reduce(memberOf, hostEnv);
  return typeof sourceIp === 'string' ? sourceIp : '';
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : null;
}
