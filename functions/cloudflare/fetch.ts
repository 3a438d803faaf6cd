import { createApi } from '../../src/api/create-api.ts';
import type { CallParts } from '../../src/api/api-deps.ts';
import { createRequestRunner } from '../../src/engine/request-runner.ts';
import type { TurnRunner } from '../../src/engine/runner.ts';
import { apiDeps, type Carried } from '../api-deps.ts';
import type { Invocation, OpenInvocation } from './compose.ts';
import type { WorkerContext, WorkerEnv } from './platform.ts';
import { admission } from '../admission.ts';
import { headerBytes, isAscii } from '../header-bytes.ts';
import { publishOnce } from './publish.ts';

/** Of one isolate, which has 128 MB. */
const MAX_STREAMS = 32;
/** A stream lasts a minute and makes up to six requests to the database at a look; an invocation may make 10,000 on the paid plan. */
const STREAM_LOOK_MS = 1_000;

/** The platform bounds an isolate: 128 MB for all that it holds. */
const CARRIED: Carried = {
  maxBodyBytes: 10 * 1024 * 1024,
  answerLimit: { maxBytes: 16 * 1024 * 1024, isWrapped: false },
};

/** What one request hands to the shared app. */
class Call {
  readonly parts: CallParts;
  readonly peer: string;
  constructor(parts: CallParts, peer: string) {
    this.parts = parts;
    this.peer = peer;
  }
}

/**
 * HTTP: the API, and the webhooks of others. What is left to do after the answer is waited for behind it, also when the
 * caller has gone: the platform would end whatever holds a lease.
 */
export function createFetch(open: OpenInvocation) {
  return (request: Request, env: WorkerEnv, context: WorkerContext): Promise<Response> => {
    const invocation = open(env);
    const runner = createRequestRunner(invocation.engine);
    const settle = (): Promise<void> => runner.settled();
    const answer = answerTo(request, invocation, runner);
    context.waitUntil(answer.then(settle, settle));
    return answer;
  };
}

async function answerTo(request: Request, invocation: Invocation, runner: TurnRunner): Promise<Response> {
  const { isolate, guard, engine } = invocation;
  const { definitions, hints, outbox } = engine.deps;
  const app = (isolate.app ??= createApp(invocation));
  const peer = request.headers.get('cf-connecting-ip') ?? '';
  const admit = admission(() => guard.keep());
  const onAdmitted: CallParts['onAdmitted'] = async (mayWrite) => {
    // The wake is kept last: what follows it has all the time that the wake leaves.
    await publishOnce(invocation, invocation.waker);
    return admit(mayWrite);
  };
  const parts = { runner, definitions, hints, onAdmitted, ...(outbox === undefined ? {} : { outbox }) };
  return app.fetch(withHeaderBytes(request), new Call(parts, peer));
}

/** Workers have decoded headers already. */
function withHeaderBytes(request: Request): Request {
  if ([...request.headers.values()].every(isAscii)) return request;
  const headers = [...request.headers].map(([name, value]): [string, string] => [name, headerBytes(value)]);
  return new Request(request, { headers });
}

function createApp({ isolate, engine }: Invocation) {
  const { settings, version } = isolate;
  const runner = createRequestRunner(engine);
  return createApi({
    ...apiDeps({
      engine,
      runner,
      settings,
      version,
      peerOf: (hostEnv) => callOf(hostEnv).peer,
      carried: CARRIED,
      maxStreams: MAX_STREAMS,
      streamLookMs: STREAM_LOOK_MS,
    }),
    partsOf: (hostEnv) => callOf(hostEnv).parts,
  });
}

function callOf(hostEnv: unknown): Call {
  if (hostEnv instanceof Call) return hostEnv;
  throw new Error('the API was called without the parts of a call');
}
