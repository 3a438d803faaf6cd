import type { LambdaContext } from 'hono/aws-lambda';
import type { AnswerLimit } from '../../src/api/answer-limit.ts';
import type { ApiDeps } from '../../src/api/api-deps.ts';
import { createLazyApi } from '../../src/api/create-lazy-api.ts';
import { createRequestRunner } from '../../src/engine/request-runner.ts';
import { apiDeps } from '../api-deps.ts';
import type { AwsParts } from './compose.ts';
import { admission } from '../admission.ts';
import { keepWake, type OwnAddress } from './economy.ts';

/** What Lambda passes on of a request and of an answer, with all it tells of them. */
const CARRIED_BYTES = 6 * 1024 * 1024 - 128 * 1024;
/** Bytes come as base64, four thirds of them. */
const MAX_BODY_BYTES = (CARRIED_BYTES / 4) * 3;
/** An answer is the text of a JSON member. */
const WHOLE: AnswerLimit = {
  maxBytes: CARRIED_BYTES,
  isWrapped: true,
  advice: 'ask the function `Stream`, which passes on more',
};
/** A streamed answer is bounded by the memory of its function. */
const STREAMED: AnswerLimit = { maxBytes: 16 * 1024 * 1024, isWrapped: false };

export interface AwsApi {
  readonly app: ReturnType<typeof createLazyApi>;
  /** Does for a request what its host needs done; resolves when nothing of it runs any more but the stream of its answer. */
  readonly serve: <T>(context: LambdaContext, answer: () => Promise<T>) => Promise<T>;
}

/** The API over the parts of this host. Throws when nobody would have to show a key and that was not asked for. */
export function composeApi(parts: AwsParts, maxStreams = 0): AwsApi {
  const { engine, settings, version } = parts;
  const runner = createRequestRunner(engine);
  const { log, node } = engine.deps;
  const answerLimit = maxStreams > 0 ? STREAMED : WHOLE;
  // The address is that of the function, the same for all its requests.
  let own: OwnAddress | null = null;
  let shown: Promise<void> | undefined;
  const admit = admission(async () => own === null || (await keepWake(parts, own)));
  const onAdmitted: ApiDeps['onAdmitted'] = (mayWrite) => {
    shown = node?.beatWhenDue().catch((error: unknown) => {
      log.warn('the sign of life could not be given', { error: String(error) });
    });
    return admit(mayWrite);
  };
  return {
    app: createLazyApi({
      ...apiDeps({
        engine,
        runner,
        settings,
        version,
        peerOf,
        forwardedOf,
        maxStreams,
        carried: { maxBodyBytes: MAX_BODY_BYTES, answerLimit },
      }),
      onAdmitted,
    }),
    async serve(context, answer) {
      own = context;
      try {
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

/**
 * Function URLs cut `x-forwarded-for` down to its first address, which is the caller's to write; CloudFront says whom it was asked by
 * in a header of its own, as `address:port`.
 */
function forwardedOf(headers: Headers): string | null {
  return headers.get('cloudfront-viewer-address')?.replace(/:\d+$/, '') ?? null;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : null;
}
