import { baseFunction, type Parts } from './parts.ts';

/** What a deployment does once: the schema before new code takes traffic, the sequences once it does. */
export interface Deployment {
  /** The same for the same code. Whoever takes this into its environment comes after the migrations. */
  readonly migrated: $util.Output<string>;
  /** Publishes the sequences, after the functions with these names are there. */
  readonly publishAfter: (functionNames: readonly $util.Output<string>[]) => aws.lambda.Invocation;
  readonly functionNode: $util.Output<aws.lambda.Function>;
}

/** Migrations that wait for a long one of another deployment, or build an index over large tables. */
const TIME_LIMIT = '15 minutes';

/**
 * One function of its own, which alone knows the owner of the schema. A deployment calls it whenever its code has changed,
 * and its code holds the migrations and the sequences. A call that fails fails the deployment.
 */
export function createDeployment(parts: Parts, ownerUrl: $util.Input<string>): Deployment {
  const { name, args, entries, opts } = parts;
  const deploy = new sst.aws.Function(
    `${name}Deploy`,
    {
      ...baseFunction(parts),
      handler: entries.deploy,
      timeout: TIME_LIMIT,
      // Sequences may depend on what the user sets for all functions.
      environment: { ...args.environment, STEPWELL_DATABASE_URL: ownerUrl },
    },
    opts,
  );
  const functionName = deploy.nodes.function.name;
  // Code is stored under the hash of its content.
  const code = deploy.nodes.function.s3Key.apply((key) => key ?? 'unknown');
  const migration = new aws.lambda.Invocation(
    `${name}Migration`,
    { functionName, input: JSON.stringify({ action: 'migrate' }), triggers: { code } },
    opts,
  );
  return {
    migrated: $util.all([code, migration.result]).apply(([applied]) => applied),
    functionNode: deploy.nodes.function,
    publishAfter: (functionNames) =>
      new aws.lambda.Invocation(
        `${name}Publishing`,
        {
          functionName,
          // The names are only waited for: new sequences may need the new handlers.
          input: $util.all([...functionNames]).apply(() => JSON.stringify({ action: 'publish' })),
          triggers: { code },
        },
        opts,
      ),
  };
}
