import { createApiHandler } from '../../../functions/aws/api.ts';
import { createAwsHost, type AwsParts } from '../../../functions/aws/compose.ts';
import { createDeadLetterHandler } from '../../../functions/aws/dead-letter.ts';
import type { SqsBatchResponse } from '../../../functions/aws/records.ts';
import { createSweepHandler } from '../../../functions/aws/sweep.ts';
import { createTurnHandler } from '../../../functions/aws/turn.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { DefinedHandler } from '../../../src/sdk/handler.ts';
import { createEventSource, type EventSource, type SqsEvent } from '../../support/event-source.ts';
import { createTestDatabase } from '../../support/postgres-database.ts';
import type { SqsServer, TestQueue } from '../../support/sqs-server.ts';
import { nextId } from '../../support/turn-builder.ts';
import { MIGRATED } from '../../postgres/store-database.ts';
import { httpEvent, lambdaContext } from './lambda-events.ts';

export const TENANT = 'saltmarsh';

/** All functions of one installation, around a database and queues of their own. */
export interface Deployment {
  readonly parts: AwsParts;
  readonly queue: TestQueue;
  readonly deadLetters: TestQueue;
  /** Brings messages of the queue to the turn function. */
  readonly turns: EventSource;
  readonly deadLetterTurns: EventSource;
  readonly call: (method: string, path: string, body?: unknown) => Promise<Answer>;
  readonly turn: (event: SqsEvent, remainingMs?: () => number) => Promise<SqsBatchResponse>;
  readonly sweep: () => Promise<void>;
  /** Publishes a sequence of these blocks and starts it; answers the id of the instance. */
  readonly start: (blocks: readonly JsonObject[], overrides?: JsonObject) => Promise<string>;
  readonly publish: (document: JsonObject) => Promise<string>;
  readonly state: (id: string) => Promise<string>;
  /** Lines of the log, warnings and errors. */
  readonly logged: readonly string[];
  readonly close: () => Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface DeploymentOptions {
  /** A migrated database that others may use as well; default: one of its own. */
  readonly databaseUrl?: string;
  readonly handlers?: readonly DefinedHandler[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly batchSize?: number;
  /** What the host leaves each invocation; default 60 s, always. */
  readonly remainingMs?: () => number;
}

/** The address of a migrated database. It is deleted when the tests end. */
export async function createDatabase(): Promise<string> {
  return (await createTestDatabase(MIGRATED)).url;
}

const MAX_RECEIVE_COUNT = '5';

export async function deploy(sqs: SqsServer, options: DeploymentOptions = {}): Promise<Deployment> {
  const databaseUrl = options.databaseUrl ?? (await createDatabase());
  const logged: string[] = [];
  const name = `turns-${nextId()}`;
  const deadLetters = await sqs.createQueue(`${name}-dead`);
  const queue = await sqs.createQueue(name, {
    VisibilityTimeout: '360',
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: deadLetters.arn,
      maxReceiveCount: MAX_RECEIVE_COUNT,
    }),
  });
  const host = createAwsHost({
    handlers: options.handlers ?? [],
    environment: {
      STEPWELL_DATABASE_URL: databaseUrl,
      STEPWELL_DATABASE_DRIVER: 'neon',
      STEPWELL_QUEUE_URL: queue.url,
      STEPWELL_INSECURE: '1',
      STEPWELL_LOG_LEVEL: 'warn',
      ...options.environment,
    },
    writeLog: (line) => logged.push(line),
  });
  const parts = await host();
  const context = () => lambdaContext(options.remainingMs);
  const functions = {
    api: createApiHandler(host),
    turn: createTurnHandler(host),
    sweep: createSweepHandler(host),
    deadLetter: createDeadLetterHandler(host),
  };
  const call: Deployment['call'] = async (method, path, body) => {
    const answer = await functions.api(httpEvent(method, `/api/v1${path}`, TENANT, body), context());
    return { status: answer.statusCode, body: answer.body === '' ? undefined : JSON.parse(answer.body) };
  };
  const publish: Deployment['publish'] = async (document) => {
    const id = nextId();
    const head = { id, tenant_id: TENANT, namespace: 'fulfilment', name: `s-${id}`, version: 1 };
    const answer = await call('POST', '/sequences', {
      ...head,
      created_at: '2027-02-11T07:45:00Z',
      ...document,
    });
    if (answer.status !== 201) throw new Error(`publish: ${JSON.stringify(answer)}`);
    return id;
  };
  return {
    parts,
    queue,
    deadLetters,
    turns: createEventSource({
      queue,
      batchSize: options.batchSize ?? 10,
      invoke: (event) => functions.turn(event, context()),
    }),
    deadLetterTurns: createEventSource({
      queue: deadLetters,
      invoke: (event) => functions.deadLetter(event, context()),
    }),
    call,
    publish,
    logged,
    turn: (event, remainingMs) => functions.turn(event, lambdaContext(remainingMs ?? options.remainingMs)),
    sweep: () => functions.sweep({}, context()),
    start: async (blocks, overrides = {}) => {
      const sequence_id = await publish({ blocks });
      const body = { sequence_id, tenant_id: TENANT, namespace: 'fulfilment', ...overrides };
      const answer = await call('POST', '/instances', body);
      if (answer.status !== 201) throw new Error(`start: ${JSON.stringify(answer)}`);
      return answer.body.id;
    },
    state: async (id) => (await call('GET', `/instances/${id}`)).body.state,
    close: () => parts.engine.deps.store.close(),
  };
}
