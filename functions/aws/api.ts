import type { APIGatewayProxyResult, LambdaContext, LambdaEvent } from 'hono/aws-lambda';
import type { AwsHost } from './compose.ts';
import { type AnswerEvent, composeApi } from './compose-api.ts';

/** HTTP: events of a function URL or of an API Gateway. */
export function createApiHandler(
  host: AwsHost,
): (event: LambdaEvent, context: LambdaContext) => Promise<APIGatewayProxyResult> {
  let answer: Promise<AnswerEvent> | null = null;
  return async (event, context) => {
    answer ??= host().then(composeApi);
    return (await answer)(event, context);
  };
}

export { createAwsHost } from './compose.ts';
