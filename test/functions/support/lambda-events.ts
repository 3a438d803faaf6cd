import type { LambdaContext, LambdaEvent } from 'hono/aws-lambda';

/** An event of a function URL or an HTTP API, payload format 2.0. */
export function httpEvent(method: string, path: string, tenant: string, body?: unknown): LambdaEvent {
  const [rawPath = '', rawQueryString = ''] = path.split('?');
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    headers: {
      host: 'abc.lambda-url.us-east-1.on.aws',
      'x-forwarded-proto': 'https',
      'x-tenant-id': tenant,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abc',
      authentication: null,
      authorizer: {},
      domainName: 'abc.lambda-url.us-east-1.on.aws',
      domainPrefix: 'abc',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'test' },
      requestId: '00000000-0000-4000-8000-000000000000',
      routeKey: '$default',
      stage: '$default',
      time: '11/Feb/2027:08:00:00 +0000',
      timeEpoch: 1_802_332_800_000,
    },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
  } as unknown as LambdaEvent;
}

export function lambdaContext(remainingMs: () => number = () => 60_000): LambdaContext {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: 'turn',
    functionVersion: '1',
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:turn',
    memoryLimitInMB: '512',
    awsRequestId: '00000000-0000-4000-8000-000000000000',
    logGroupName: 'turn',
    logStreamName: 'turn',
    getRemainingTimeInMillis: remainingMs,
  };
}
