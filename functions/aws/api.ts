import type { APIGatewayProxyResult, LambdaContext, LambdaEvent } from 'hono/aws-lambda';
import { answerTo } from './answer-event.ts';
import type { AwsHost } from './compose.ts';
import { type AwsApi, composeApi } from './compose-api.ts';
import { resultOf } from './http-event.ts';

/** HTTP: events of a function URL or of an API Gateway, each answered as a whole. */
export function createApiHandler(
  host: AwsHost,
): (event: LambdaEvent, context: LambdaContext) => Promise<APIGatewayProxyResult> {
  let opened: Promise<AwsApi> | null = null;
  return async (event, context) => {
    opened ??= host().then((parts) => composeApi(parts));
    const api = await opened;
    return api.serve(context, async () => resultOf(event, await answerTo(api, event, context)));
  };
}

export { createAwsHost } from './compose.ts';
