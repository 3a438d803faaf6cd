import { turns } from './queues.ts';
import { stageSettings } from './stage.ts';

/** Set with `npx sst secret set StepwellDatabaseUrl …`; a PostgreSQL URL, that of a Neon project as it is. */
const databaseUrl = new sst.Secret('StepwellDatabaseUrl');

export const settings = stageSettings($app.stage);

/** The time limit of every function. The queue's visibility is six times as long. */
const TIME_LIMIT = '60 seconds';

/** What all functions have in common. They may send to the queue of turns and do nothing else to it. */
export const shared = {
  runtime: 'nodejs22.x',
  architecture: 'arm64',
  memory: '512 MB',
  timeout: TIME_LIMIT,
  logging: { retention: settings.logRetention },
  environment: { STEPWELL_DATABASE_URL: databaseUrl.value, STEPWELL_QUEUE_URL: turns.url },
  permissions: [{ actions: ['sqs:SendMessage'], resources: [turns.arn] }],
  // The queue's client is a chunk of its own, loaded when a hint is sent; pg looks for a native part that is not there.
  nodejs: { splitting: true, esbuild: { external: ['pg-native'] } },
} as const satisfies Partial<sst.aws.FunctionArgs>;

/**
 * AWS stops a function that calls itself by way of a queue after some 16 hops, which is what a run in small steps does.
 * The hop limit of the engine takes its place (RULINGS B7).
 */
export function allowLoop(name: string, functionName: $util.Input<string>): void {
  new aws.lambda.FunctionRecursionConfig(name, { functionName, recursiveLoop: 'Allow' });
}
