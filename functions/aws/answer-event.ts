import type { LambdaContext, LambdaEvent } from 'hono/aws-lambda';
import type { AwsApi } from './compose-api.ts';
import { requestOf } from './http-event.ts';

/** What the API answers to an event; an event that is no request is 400. */
export async function answerTo(
  { app }: AwsApi,
  event: LambdaEvent,
  context: LambdaContext,
): Promise<Response> {
  const request = requestOf(event);
  if (request.ok) return app.fetch(request.value, { requestContext: event.requestContext });
  const { errorAnswer } = await import('../../src/api/error-answer.ts');
  const response = errorAnswer({ kind: 'invalid_argument', message: request.error }, context.awsRequestId);
  response.headers.set('x-request-id', context.awsRequestId);
  return response;
}
