import type { LambdaContext } from 'hono/aws-lambda';
import { createLazyApi } from '../../src/api/create-lazy-api.ts';
import { createRequestRunner } from '../../src/engine/request-runner.ts';
import { apiDeps } from '../api-deps.ts';
import type { AwsParts } from './compose.ts';
import { keepWake } from './economy.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface AwsApi {
  readonly app: ReturnType<typeof createLazyApi>;
  /** Does for a request what its host needs done; resolves when nothing of it runs any more but the stream of its answer. */
  readonly serve: <T>(method: string, context: LambdaContext, answer: () => Promise<T>) => Promise<T>;
}

/** The API over the parts of this host. Throws when nobody would have to show a key and that was not asked for. */
export function composeApi(parts: AwsParts, maxStreams = 0): AwsApi {
  const { engine, settings, version } = parts;
  const runner = createRequestRunner(engine);
  const { log, node } = engine.deps;
  return {
    app: createLazyApi(apiDeps({ engine, runner, settings, version, peerOf, maxStreams })),
    async serve(method, context, answer) {
      const shown = node?.beatWhenDue().catch((error: unknown) => {
        log.warn('the sign of life could not be given', { error: String(error) });
      });
      try {
        // Whoever only reads leaves nothing behind.
        if (!READS.has(method)) await keepWake(parts, context);
        return await answer();
      } finally {
        await shown;
        await runner.settled();
      }
    },
  };
}

/** Function URLs and HTTP APIs (payload 2.0) name the peer here; it is shown in the log and told to rate limits only. */
function peerOf(hostEnv: unknown): string {
  const sourceIp = ['requestContext', 'http', 'sourceIp'].reduce(memberOf, hostEnv);
  return typeof sourceIp === 'string' ? sourceIp : '';
}

/** The method of an event of payload 2.0. */
export function methodOf(event: unknown): string {
  const method = ['requestContext', 'http', 'method'].reduce(memberOf, event);
  return typeof method === 'string' ? method : 'unknown';
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : null;
}
