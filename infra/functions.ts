import type { Deployment } from './deployment.ts';
import { baseFunction, ofLambdaOnly, type Parts } from './parts.ts';
import type { Queues } from './queues.ts';
import type { Wakes } from './wakes.ts';

export interface Surroundings {
  readonly queues: Queues;
  readonly deployment: Deployment;
  readonly wakes: Wakes;
  readonly databaseUrl: $util.Input<string>;
  readonly apiKey: $util.Input<string>;
}

export interface Functions {
  readonly api: sst.aws.Function;
  readonly sweep: sst.aws.Function;
  readonly turn: Subscriber;
  readonly deadLetter: Subscriber;
}

type Subscriber = ReturnType<sst.aws.Queue['subscribe']>;

/** The instances of one batch are worked at side by side and share their commits; what is not begun in time is given back. */
const BATCH = { size: 10, partialResponses: true } as const;
const DEAD_LETTER_FUNCTIONS_MAX = 2;

/** All functions that serve. The sweep is there before the others, which have to name it where they set wakes. */
export function createFunctions(parts: Parts, around: Surroundings): Functions {
  const { name, entries, stage, opts } = parts;
  const { queues, wakes } = around;
  const sweep = new sst.aws.Function(
    `${name}Sweep`,
    {
      ...running(parts, serving(parts, around, wakes.ofSweep())),
      handler: entries.sweep,
      // A tick that failed is not worth much: the next one does the same (reliability.md 5.1).
      retries: 0,
      transform: { role: ofLambdaOnly, eventInvokeConfig: { maximumEventAgeInSeconds: 60 } },
      ...(stage.reserved === null ? {} : { concurrency: { reserved: stage.reserved.sweep } }),
    },
    opts,
  );
  const others = wakes.ofOthers(sweep.arn);
  const api = new sst.aws.Function(
    `${name}Api`,
    {
      ...serving(parts, around, others, { STEPWELL_API_KEY: around.apiKey }),
      handler: entries.api,
      // It lets everybody through: callers are authenticated by the API itself, which also answers cross-origin requests.
      url: { cors: false },
      ...(stage.reserved === null ? {} : { concurrency: { reserved: stage.reserved.api } }),
    },
    opts,
  );
  const subscribe = (queue: sst.aws.Queue, handler: string, maximumConcurrency: number) => {
    return queue.subscribe(
      { ...running(parts, serving(parts, around, others)), handler },
      {
        batch: BATCH,
        transform: {
          eventSourceMapping: (mapping) => {
            mapping.scalingConfig = { maximumConcurrency };
          },
        },
      },
      opts,
    );
  };
  return {
    api,
    sweep,
    turn: subscribe(queues.turns, entries.turn, stage.turnFunctionsMax),
    deadLetter: subscribe(queues.deadLetters, entries.deadLetter, DEAD_LETTER_FUNCTIONS_MAX),
  };
}

type Own = ReturnType<Wakes['ofSweep']>;

/** Each may send hints, keep wakes in economy mode, and nothing else. */
function serving(
  parts: Parts,
  { queues, deployment, databaseUrl }: Surroundings,
  own: Own,
  secrets: Readonly<Record<string, $util.Input<string>>> = {},
) {
  const { args } = parts;
  const driver = args.database?.driver;
  return {
    ...baseFunction(parts),
    environment: {
      STEPWELL_DATABASE_URL: databaseUrl,
      STEPWELL_QUEUE_URL: queues.turns.url,
      STEPWELL_MIGRATED_BY: deployment.migrated,
      ...(driver === undefined ? {} : { STEPWELL_DATABASE_DRIVER: driver }),
      ...(args.encryptionKey === undefined ? {} : { STEPWELL_ENCRYPTION_KEY: args.encryptionKey }),
      ...secrets,
      ...own.environment,
      ...args.environment,
    },
    permissions: [{ actions: ['sqs:SendMessage'], resources: [queues.turns.arn] }, ...own.permissions],
  } satisfies Partial<sst.aws.FunctionArgs>;
}

/** Handlers run in it: it may do what they need on top. */
function running({ args }: Parts, serves: ReturnType<typeof serving>) {
  return {
    ...serves,
    permissions: [...serves.permissions, ...(args.permissions ?? [])],
    ...(args.link === undefined ? {} : { link: args.link }),
  };
}

/**
 * AWS stops a function that calls itself by way of a queue after some 16 hops, which is what a run in small steps does.
 * The hop limit of the engine takes its place (RULINGS B7).
 */
export function allowLoop(name: string, functionName: $util.Input<string>, { opts }: Parts): void {
  new aws.lambda.FunctionRecursionConfig(name, { functionName, recursiveLoop: 'Allow' }, opts);
}
