import { type APIGatewayProxyResult, handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda';
import * as z from 'zod';
import { createApi } from '../../src/api/create-api.ts';
import { createRequestRunner } from '../../src/engine/request-runner.ts';
import { apiDeps } from '../api-deps.ts';
import type { AwsParts } from './compose.ts';

/** Answers one HTTP event. Resolves when nothing of the request runs any more. */
export type AnswerEvent = (event: LambdaEvent, context: LambdaContext) => Promise<APIGatewayProxyResult>;

/** The API over the parts of this host. Throws when nobody would have to show a key and that was not asked for. */
export function composeApi({ engine, settings, version }: AwsParts): AnswerEvent {
  const runner = createRequestRunner(engine);
  const { log, node } = engine.deps;
  const app = createApi(apiDeps({ engine, runner, settings, version, peerOf }));
  const answer = handle(app);
  return async (event, context) => {
    const shown = node?.beatWhenDue().catch((error: unknown) => {
      log.warn('the sign of life could not be given', { error: String(error) });
    });
    try {
      return await answer(event, context);
    } finally {
      await shown;
      await runner.settled();
    }
  };
}

/** Function URLs and HTTP APIs (payload 2.0) name the peer here. */
const HostEnv = z.object({ requestContext: z.object({ http: z.object({ sourceIp: z.string() }) }) });

function peerOf(hostEnv: unknown): string {
  const env = HostEnv.safeParse(hostEnv);
  return env.success ? env.data.requestContext.http.sourceIp : '';
}
