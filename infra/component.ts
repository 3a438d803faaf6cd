import { adviceOf } from './advice.ts';
import { createAlarms } from './alarms.ts';
import type { StepwellArgs, StepwellDatabase } from './args.ts';
import { turnFunctionsByTcp } from './capacity.ts';
import { checkConnections } from './connections.ts';
import { createDeployment } from './deployment.ts';
import { writeEntries } from './entries.ts';
import { allowLoops, createFunctions, type Functions, lambdasOf } from './functions.ts';
import type { Parts } from './parts.ts';
import { createQueues, type Queues } from './queues.ts';
import { stageSettings } from './stage.ts';
import { createSweepSchedule } from './sweep.ts';
import { createWakes } from './wakes.ts';

export type { StepwellArgs, StepwellDatabase } from './args.ts';
export { type StageSettings, stageSettings } from './stage.ts';

/**
 * `stepwell/sst`: a whole installation on AWS, for an sst.config.ts (docs/deploy-aws.md).
 *
 *     const workflows = new Stepwell('Workflows', { handlers: './handlers.ts', sequences: './sequences' });
 *     return { url: workflows.url };
 *
 * `sst` and `aws` are those of the configuration. Secrets that are not given as arguments are set by
 * `npx sst secret set WorkflowsDatabaseUrl …`, `WorkflowsDatabaseOwnerUrl` and `WorkflowsApiKey`.
 */
export class Stepwell extends $util.ComponentResource {
  /** Where the API is. */
  readonly url: $util.Output<string>;
  /** The same API, for those who follow something (`/stream`). */
  readonly streamUrl: $util.Output<string>;
  /** What production lacks yet, in words; `none`. */
  readonly advice: $util.Output<string>;
  readonly nodes: Functions & Queues;

  constructor(name: string, args: StepwellArgs = {}, opts: $util.ComponentResourceOptions = {}) {
    super('stepwell:aws:Stepwell', name, {}, opts);
    const parts: Parts = {
      name,
      args,
      entries: writeEntries({ ...filesOf(args), root: $cli.paths.root, name }),
      stage: { ...stageSettings($app.stage), ...args.stage },
      opts: { parent: this },
    };
    const maxConnections = args.database?.maxConnections;
    if (maxConnections !== undefined) {
      checkConnections(maxConnections, { ...parts.stage, turnFunctionsMax: turnFunctionsByTcp(parts) });
    }
    const { url: databaseUrl, ownerUrl = databaseUrl } = args.database ?? databaseSecrets(name);
    const apiKey = args.apiKey ?? new sst.Secret(`${name}ApiKey`).value;
    const queues = createQueues(parts);
    const wakes = createWakes(parts);
    const deployment = createDeployment(parts, { ownerUrl, databaseUrl });
    const functions = createFunctions(parts, { queues, deployment, wakes, databaseUrl, apiKey });
    wakes.allow(functions.sweep.arn);
    const tick = createSweepSchedule(parts, functions.sweep.arn);
    allowLoops(parts, functions);
    deployment.publishAfter(Object.values(lambdasOf(functions)).map((lambda) => lambda.name));
    createAlarms({ parts, functions, queues, sweptBy: [functions.check, tick] });
    this.url = functions.api.url;
    this.streamUrl = functions.stream.url;
    this.advice = adviceOf(parts, { ownerUrl, databaseUrl });
    this.nodes = { ...functions, ...queues };
    this.registerOutputs({ url: this.url, streamUrl: this.streamUrl });
  }
}

function databaseSecrets(name: string): StepwellDatabase {
  return {
    url: new sst.Secret(`${name}DatabaseUrl`).value,
    ownerUrl: new sst.Secret(`${name}DatabaseOwnerUrl`).value,
  };
}

function filesOf({ handlers, sequences, tenant }: StepwellArgs) {
  return {
    ...(handlers === undefined ? {} : { handlers }),
    ...(sequences === undefined ? {} : { sequences }),
    ...(tenant === undefined ? {} : { tenant }),
  };
}
