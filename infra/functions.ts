import { DEAD_LETTER_FUNCTIONS_MAX } from './connections.ts';
import type { Deployment } from './deployment.ts';
import { createLog } from './logs.ts';
import { baseFunction, type Parts, TIME_LIMIT_SECONDS } from './parts.ts';
import { turnFunctionsMax } from './capacity.ts';
import type { Queues } from './queues.ts';
import { patienceOf } from './sweep.ts';
import type { WakeAccess, Wakes } from './wakes.ts';

export interface Surroundings {
  readonly queues: Queues;
  readonly deployment: Deployment;
  /** What has to be done before these functions are changed; default: the migrations. */
  readonly afterwards?: $util.Output<string>;
  readonly wakes: Wakes;
  readonly databaseUrl: $util.Input<string>;
  readonly apiKey: $util.Input<string>;
}

export interface Functions {
  readonly api: sst.aws.Function;
  readonly stream: sst.aws.Function;
  readonly sweep: sst.aws.Function;
  readonly turn: Subscriber;
  readonly deadLetter: Subscriber;
  /** Of the functions whose lines are watched. */
  readonly logs: Readonly<Record<'Sweep' | 'Turn', aws.cloudwatch.LogGroup>>;
  /** The call by which the new sweep has shown that it works. */
  readonly check: aws.lambda.Invocation;
}

type Subscriber = ReturnType<sst.aws.Queue['subscribe']>;

/** The instances of one batch are worked at side by side and share their commits; what is not begun in time is given back. */
const BATCH = { size: 10, partialResponses: true } as const;
/** The API ends a stream after a minute; clients resume. */
const STREAM_LIMIT_SECONDS = 75;

/**
 * All functions that serve. The sweep is there before the others, which name it where they set wakes, and come once it has
 * shown that the new code works: a sweep that fails is the least harm, for the old turn functions and the old API go on.
 */
export function createFunctions(parts: Parts, before: Surroundings): Functions {
  const { entries, stage } = parts;
  const { queues, wakes } = before;
  const logs = { Sweep: createLog(parts, 'Sweep'), Turn: createLog(parts, 'Turn') };
  const sweep = createSweep(parts, before, logs.Sweep);
  const { call: check, passed } = before.deployment.checkedBy(sweep);
  const around = { ...before, afterwards: passed };
  const own = wakes.ofOthers(sweep.arn);
  const { deadLetters, turns } = queues;
  const turnsMax = turnFunctionsMax(parts, around.databaseUrl);
  return {
    api: createHttp(parts, around, own, {
      name: 'Api',
      handler: entries.api,
      reserved: stage.reserved?.api,
    }),
    stream: createHttp(parts, around, own, {
      name: 'Stream',
      handler: entries.stream,
      reserved: stage.reserved?.stream,
      streaming: true,
      limitSeconds: STREAM_LIMIT_SECONDS,
    }),
    sweep,
    check,
    logs,
    turn: subscribe(parts, around, own, {
      queue: turns,
      handler: entries.turn,
      maximumConcurrency: turnsMax,
      log: logs.Turn,
    }),
    deadLetter: subscribe(parts, around, own, {
      queue: deadLetters,
      handler: entries.deadLetter,
      maximumConcurrency: DEAD_LETTER_FUNCTIONS_MAX,
      log: createLog(parts, 'DeadLetter'),
    }),
  };
}

function createSweep(parts: Parts, around: Surroundings, log: aws.cloudwatch.LogGroup): sst.aws.Function {
  const { retries, ageSeconds } = patienceOf(parts);
  const base = serving(parts, around, around.wakes.ofSweep(), log);
  return new sst.aws.Function(
    `${parts.name}Sweep`,
    {
      ...base,
      handler: parts.entries.sweep,
      retries,
      transform: { ...base.transform, eventInvokeConfig: { maximumEventAgeInSeconds: ageSeconds } },
      ...reserve(parts.stage.reserved?.sweep),
    },
    parts.opts,
  );
}

interface HttpFunction extends Pick<sst.aws.FunctionArgs, 'handler' | 'streaming'> {
  readonly name: string;
  readonly reserved: number | undefined;
  /** Absent: that of the others. */
  readonly limitSeconds?: number;
}

/** It lets everybody through: callers are authenticated by the API itself, which also answers cross-origin requests. */
function createHttp(
  parts: Parts,
  around: Surroundings,
  own: WakeAccess,
  { name, reserved, limitSeconds = TIME_LIMIT_SECONDS, ...args }: HttpFunction,
): sst.aws.Function {
  // Its wakes have to outlast it.
  const itself = { STEPWELL_API_KEY: around.apiKey, STEPWELL_INVOCATION_SECS: String(limitSeconds) };
  return new sst.aws.Function(
    `${parts.name}${name}`,
    {
      ...serving(parts, around, own, createLog(parts, name), itself),
      ...args,
      timeout: `${limitSeconds} seconds`,
      url: { cors: false },
      ...reserve(reserved),
    },
    parts.opts,
  );
}

interface QueueFunction {
  readonly queue: sst.aws.Queue;
  readonly handler: string;
  readonly maximumConcurrency: $util.Input<number>;
  readonly log: aws.cloudwatch.LogGroup;
}

function subscribe(
  parts: Parts,
  around: Surroundings,
  own: WakeAccess,
  { queue, handler, maximumConcurrency, log }: QueueFunction,
): Subscriber {
  return queue.subscribe(
    { ...serving(parts, around, own, log), handler },
    {
      batch: BATCH,
      transform: {
        eventSourceMapping: (mapping) => {
          mapping.scalingConfig = { maximumConcurrency };
        },
      },
    },
    parts.opts,
  );
}

function reserve(reserved: number | undefined): Pick<sst.aws.FunctionArgs, 'concurrency'> {
  return reserved === undefined ? {} : { concurrency: { reserved } };
}

/**
 * Each may send hints, keep wakes in economy mode, and what handlers need, for all import them: also the API checks the params
 * of gates, plays pure steps of dry runs and calls escalations.
 */
function serving(
  parts: Parts,
  { queues, deployment, databaseUrl, afterwards = deployment.migrated }: Surroundings,
  own: WakeAccess,
  log: aws.cloudwatch.LogGroup,
  further: Readonly<Record<string, $util.Input<string>>> = {},
) {
  const { args } = parts;
  const driver = args.database?.driver;
  return {
    ...baseFunction(parts, log),
    environment: {
      ...args.environment,
      // What the component knows better than anybody.
      STEPWELL_DATABASE_URL: databaseUrl,
      STEPWELL_QUEUE_URL: queues.turns.url,
      STEPWELL_INVOCATION_SECS: String(TIME_LIMIT_SECONDS),
      STEPWELL_MIGRATED_BY: afterwards,
      ...(driver === undefined ? {} : { STEPWELL_DATABASE_DRIVER: driver }),
      ...(args.encryptionKey === undefined ? {} : { STEPWELL_ENCRYPTION_KEY: args.encryptionKey }),
      ...further,
      ...own.environment,
    },
    permissions: [
      { actions: ['sqs:SendMessage'], resources: [queues.turns.arn] },
      ...own.permissions,
      ...(args.permissions ?? []),
    ],
  } satisfies Partial<sst.aws.FunctionArgs>;
}

/**
 * AWS stops a function that calls itself by way of a queue after some 16 hops, which is what a run in small steps does.
 * The hop limit of the engine takes its place (RULINGS B7). Whoever sends hints may be part of such a loop.
 */
export function allowLoops({ name, opts }: Parts, functions: Functions): void {
  for (const [role, { name: functionName }] of Object.entries(lambdasOf(functions))) {
    new aws.lambda.FunctionRecursionConfig(
      `${name}${role}Loop`,
      { functionName, recursiveLoop: 'Allow' },
      opts,
    );
  }
}

/** The functions that serve, by what they do. */
export function lambdasOf({ api, stream, turn, sweep, deadLetter }: Functions) {
  return {
    Api: api.nodes.function,
    Stream: stream.nodes.function,
    Turn: turn.nodes.function.nodes.function,
    Sweep: sweep.nodes.function,
    DeadLetter: deadLetter.nodes.function.nodes.function,
  };
}
