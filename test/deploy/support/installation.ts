import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import * as z from 'zod';
import { installPackage } from '../../functions/support/installed-package.ts';
import { httpEvent } from '../../functions/support/lambda-events.ts';
import { createEventSource, type EventSource, type SqsEvent } from '../../support/event-source.ts';
import type { SqsServer, TestQueue } from '../../support/sqs-server.ts';
import { type Evaluated, evaluate } from './evaluate.ts';
import { arnOf, createLambda, type Lambda } from './lambda.ts';
import { type FunctionName, functionOf, only, SERVING } from './resources.ts';
import type { Schedule } from './scheduler.ts';
import { ROOT } from './tools.ts';

/** The template of examples/deploy-aws, evaluated and bundled as a deployment would have it. */
export interface AwsProject {
  readonly folder: string;
  readonly evaluated: Evaluated;
  /** Folder with the bundle of a function. */
  readonly bundleOf: (name: FunctionName) => string;
  remove(): void;
}

/** `small`: one small handler instead of those of the template, so that the bundles show what Stepwell itself brings along. Or handlers of one's own. */
export type Handlers = 'of the template' | 'small' | { readonly source: string };

const SMALL_HANDLERS =
  "import { defineHandler } from 'stepwell/handler';\nexport const hello = defineHandler('hello', {}, () => 1);\n";
const SMALL = { file: 'sst.config.ts', find: './handlers.ts', replace: './small.ts' };

export async function bundleProject(handlers: Handlers = 'of the template'): Promise<AwsProject> {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-aws-'));
  try {
    cpSync(join(ROOT, 'examples/deploy-aws'), folder, { recursive: true });
    writeFileSync(join(folder, 'small.ts'), typeof handlers === 'string' ? SMALL_HANDLERS : handlers.source);
    await installPackage(folder);
    const artifacts = join(folder, 'bundles');
    const [evaluated] = await evaluate({
      root: folder,
      artifacts,
      secrets: {
        WorkflowsDatabaseUrl: 'postgres://database.example.com/app',
        WorkflowsDatabaseOwnerUrl: 'postgres://database.example.com/app',
        WorkflowsApiKey: 'root-key',
      },
      variants: [{ stage: 'test', edits: handlers === 'of the template' ? [] : [SMALL] }],
    });
    if (evaluated === undefined) throw new Error('the configuration was not evaluated');
    return {
      folder,
      evaluated,
      bundleOf: (name) => join(artifacts, '0', folderOf(evaluated, name)),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function folderOf(evaluated: Evaluated, name: FunctionName): string {
  return functionOf(evaluated, name).resourceName.replace(/Function$/, '');
}

type Bring = (event: SqsEvent) => Promise<unknown>;

/** All functions of the project, around queues with the settings that were registered for them. */
export interface Installation {
  readonly functions: Readonly<Record<FunctionName, Lambda>>;
  readonly turns: TestQueue;
  readonly deadLetters: TestQueue;
  /** What brings messages of a queue to its function, or to who stands before it, in batches as registered. */
  readonly sourceOf: (queue: 'turns' | 'deadLetters', bring?: Bring) => EventSource;
  /** What a schedule calls when it goes off. Throws when that is not the sweep, or it may not call it. */
  readonly wakeOf: (schedule: Schedule) => () => Promise<unknown>;
  /** Where the API answers. */
  readonly url: string;
  close(): Promise<void>;
}

export interface InstallationOptions {
  readonly project: AwsProject;
  readonly sqs: SqsServer;
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Node that the functions run on; default: that of the tests. */
  readonly program?: string;
  /** Processes of one function; the mapping's own maximum counts when it is less. */
  readonly concurrency?: number;
}

let installations = 0;

export async function install(options: InstallationOptions): Promise<Installation> {
  const { project, sqs, databaseUrl, program = process.execPath, concurrency = 2 } = options;
  const { evaluated } = project;
  installations += 1;
  const queue = (name: RegExp, redrive: (policy: string) => Record<string, string>) => {
    const { inputs, name: registered } = only(evaluated, 'aws:sqs/queue:Queue', name);
    const { visibilityTimeoutSeconds, redrivePolicy } = Queue.parse(inputs);
    return sqs.createQueue(`${registered}-${process.pid}-${installations}`, {
      VisibilityTimeout: String(visibilityTimeoutSeconds),
      ...(redrivePolicy === undefined ? {} : redrive(redrivePolicy)),
    });
  };
  const deadLetters = await queue(/DeadLettersQueue$/, () => ({}));
  const turns = await queue(/TurnsQueue$/, (policy) => {
    const { maxReceiveCount } = Redrive.parse(JSON.parse(policy));
    return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetters.arn, maxReceiveCount }) };
  });
  const mapping = mappingOf(evaluated, /Turns/);
  const environment = {
    ...options.environment,
    STEPWELL_DATABASE_URL: databaseUrl,
    STEPWELL_DATABASE_DRIVER: 'neon',
    STEPWELL_QUEUE_URL: turns.url,
  };
  const lambda = (name: FunctionName): Lambda =>
    createLambda({
      found: functionOf(evaluated, name),
      folder: project.bundleOf(name),
      environment,
      program,
      concurrency: Math.min(
        concurrency,
        name === 'Turn' ? mapping.scalingConfig.maximumConcurrency : concurrency,
      ),
    });
  const functions = {
    Api: lambda('Api'),
    Stream: lambda('Stream'),
    Turn: lambda('Turn'),
    Sweep: lambda('Sweep'),
    DeadLetter: lambda('DeadLetter'),
    Deploy: lambda('Deploy'),
  };
  const server = await serve(functions.Api);
  return {
    functions,
    turns,
    deadLetters,
    sourceOf(name, bring) {
      const isTurns = name === 'turns';
      const target = isTurns ? functions.Turn : functions.DeadLetter;
      return createEventSource({
        queue: isTurns ? turns : deadLetters,
        batchSize: mappingOf(evaluated, isTurns ? /Turns/ : /DeadLetters/).batchSize,
        invoke: bring ?? ((event) => target.invoke(event)),
      });
    },
    wakeOf: ({ GroupName, Target }) => {
      expect({ GroupName, ...Target }).toMatchObject(scheduledTarget(evaluated));
      return () => functions.Sweep.invoke(JSON.parse(Target.Input));
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const name of [...SERVING, 'Deploy'] as const) functions[name].close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What the roles of the deployment let a schedule do: call one function, out of one group. */
function scheduledTarget(evaluated: Evaluated): object {
  const role = only(evaluated, 'aws:iam/role:Role', /WakeRole$/);
  const { policy } = RolePolicy.parse(only(evaluated, 'aws:iam/rolePolicy:RolePolicy', /WakePolicy$/).inputs);
  const [{ Action, Resource }] = Allowed.parse(JSON.parse(policy)).Statement;
  expect([Action, Resource]).toEqual(['lambda:InvokeFunction', arnOf(functionOf(evaluated, 'Sweep'))]);
  return {
    GroupName: only(evaluated, 'aws:scheduler/scheduleGroup:ScheduleGroup').name,
    Arn: Resource,
    RoleArn: `arn:aws:iam:us-east-1:000000000000:${role.name}`,
  };
}

const RolePolicy = z.object({ policy: z.string() });
const Allowed = z.object({ Statement: z.tuple([z.object({ Action: z.string(), Resource: z.string() })]) });
const Queue = z.object({ visibilityTimeoutSeconds: z.number(), redrivePolicy: z.string().optional() });
const Redrive = z.object({ maxReceiveCount: z.number() });
const Mapping = z.object({
  batchSize: z.number(),
  functionResponseTypes: z.tuple([z.literal('ReportBatchItemFailures')]),
  scalingConfig: z.object({ maximumConcurrency: z.number() }),
});

function mappingOf(evaluated: Evaluated, name: RegExp): z.infer<typeof Mapping> {
  return Mapping.parse(only(evaluated, 'aws:lambda/eventSourceMapping:EventSourceMapping', name).inputs);
}

const Answer = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(''),
  isBase64Encoded: z.boolean().default(false),
});

/** The function URL. */
async function serve(api: Lambda): Promise<Server> {
  const server = createServer((request, response) => {
    void (async () => {
      try {
        const answer = Answer.parse(await api.invoke(await eventOf(request)));
        response.writeHead(answer.statusCode, answer.headers);
        response.end(Buffer.from(answer.body, answer.isBase64Encoded ? 'base64' : 'utf8'));
      } catch (error) {
        response.writeHead(502).end(String(error));
      }
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function eventOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const body = Buffer.concat(chunks).toString('utf8');
  return requestEvent(request.method ?? 'GET', request.url ?? '/', headers, body === '' ? null : body);
}

/** An event of a function URL, from the owner of the root key. */
export function requestEvent(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | null = null,
): unknown {
  const caller = { 'x-api-key': 'root-key', 'x-tenant-id': 'default' };
  return { ...httpEvent(method, path, 'default'), headers: { ...caller, ...headers }, body };
}
