import { Hono } from 'hono';
import { type LambdaContext, streamHandle } from 'hono/aws-lambda';
import type { AwsHost } from './compose.ts';
import { type AwsApi, composeApi } from './compose-api.ts';

interface StreamEnv {
  // Hono fixes this name.
  Bindings: { readonly context: LambdaContext };
}

/** The host serves one request at a time. */
const STREAMS_PER_PROCESS = 1;

/**
 * HTTP as `createApiHandler` answers it, but as a stream, which is what events need: for a function URL that streams, of a
 * function of its own (RULINGS B17). Only the runtime of AWS has what it takes, from the moment it loads a handler.
 */
export function createStreamHandler(host: AwsHost): ReturnType<typeof streamHandle> {
  let opened: Promise<AwsApi> | null = null;
  const whole = new Hono<StreamEnv>();
  whole.all('*', async ({ req, env }) => {
    opened ??= host().then((parts) => composeApi(parts, STREAMS_PER_PROCESS));
    const { app, serve } = await opened;
    return serve(env.context, async () => app.fetch(req.raw, env));
  });
  return streamHandle(whole);
}

export { createAwsHost } from './compose.ts';
