import { type APIGatewayProxyResult, handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda';
import type { AwsHost } from './compose.ts';
import { type AwsApi, composeApi } from './compose-api.ts';

/** HTTP: events of a function URL or of an API Gateway, each answered as a whole. */
export function createApiHandler(
  host: AwsHost,
): (event: LambdaEvent, context: LambdaContext) => Promise<APIGatewayProxyResult> {
  let opened: Promise<AwsApi> | null = null;
  return async (event, context) => {
    opened ??= host().then((parts) => composeApi(parts));
    const { app, serve } = await opened;
    return serve(context, () => handle(app)(event, context));
  };
}

export { createAwsHost } from './compose.ts';
