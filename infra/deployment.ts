import { createHash } from 'node:crypto';
import type { StepwellArgs } from './args.ts';
import { loginOf, passwordOf } from './login.ts';
import { createLog } from './logs.ts';
import { baseFunction, type Parts } from './parts.ts';

/** What a deployment does once: the schema before new code takes traffic, the sequences once it does. */
export interface Deployment {
  /** The same for the same code. Whoever takes this into its environment comes after the migrations. */
  readonly migrated: $util.Output<string>;
  /** The same, once the new code of this function has shown that it can work. The others come after it. */
  readonly checkedBy: (lambda: sst.aws.Function) => Checked;
  /** Publishes the sequences, after the functions with these names are there. */
  readonly publishAfter: (functionNames: readonly $util.Output<string>[]) => aws.lambda.Invocation;
  readonly functionNode: $util.Output<aws.lambda.Function>;
}

export interface Checked {
  readonly call: aws.lambda.Invocation;
  /** Whoever takes this into its environment comes after the check. */
  readonly passed: $util.Output<string>;
}

export interface Databases {
  /** For migrations and sequences. */
  readonly ownerUrl: $util.Input<string>;
  /** For all functions that serve. */
  readonly databaseUrl: $util.Input<string>;
}

/** Migrations that wait for a long one of another deployment, or build an index over large tables. */
const TIME_LIMIT = '15 minutes';

/**
 * One function of its own, which alone knows the owner of the schema. A deployment calls it whenever something has changed
 * that it depends on: its code, which holds the migrations and the sequences, or what it is told. A call that fails fails
 * the deployment, and is made again by the next one.
 */
export function createDeployment(parts: Parts, databases: Databases): Deployment {
  const { name, args, entries, opts } = parts;
  const deploy = new sst.aws.Function(
    `${name}Deploy`,
    {
      ...baseFunction(parts, createLog(parts, 'Deploy')),
      handler: entries.deploy,
      timeout: TIME_LIMIT,
      // Sequences may depend on what the user sets for all functions.
      environment: { ...args.environment, ...toLetIn(databases), STEPWELL_DATABASE_URL: databases.ownerUrl },
    },
    opts,
  );
  const functionName = deploy.nodes.function.name;
  const code = codeOf(deploy);
  const settings = digestOf(args, databases);
  const triggers = { code, settings };
  // Out of the state before it is called anew: one that has failed is called again then, also by a deployment that goes back.
  const again = { ...opts, deleteBeforeReplace: true };
  const migration = new aws.lambda.Invocation(
    `${name}Migration`,
    { functionName, input: JSON.stringify({ action: 'migrate' }), triggers },
    again,
  );
  const migrated = $util.all([code, migration.result]).apply(([applied]) => applied);
  return {
    migrated,
    checkedBy: (lambda) => {
      const check = new aws.lambda.Invocation(
        `${name}Check`,
        {
          functionName: lambda.nodes.function.name,
          input: JSON.stringify({ action: 'check' }),
          triggers: { code: codeOf(lambda), settings: $util.secret(digestOfFunction(lambda, settings)) },
        },
        again,
      );
      const passed = $util.all([migrated, check.result]).apply(([applied]) => applied);
      return { call: check, passed };
    },
    functionNode: deploy.nodes.function,
    publishAfter: (functionNames) =>
      new aws.lambda.Invocation(
        `${name}Publishing`,
        {
          functionName,
          // The names are only waited for: new sequences may need the new handlers.
          input: $util.all([...functionNames]).apply(() => JSON.stringify({ action: 'publish' })),
          triggers,
        },
        again,
      ),
  };
}

/** Code is stored under the hash of its content. */
function codeOf(lambda: sst.aws.Function): $util.Output<string> {
  return lambda.nodes.function.s3Key.apply((key) => key ?? 'unknown');
}

/**
 * What the deploy function is told beside its code. Passwords are part of it, so it is kept as a digest only, and that as a
 * secret: one could try what a short value might be.
 */
function digestOf(
  { environment = {}, link, tenant = '' }: StepwellArgs,
  { ownerUrl, databaseUrl }: Databases,
) {
  const told = $util.all([$util.output(environment), linked(link), ownerUrl, databaseUrl]);
  const digest = told.apply(([variables, links, ...urls]) => {
    const sorted = Object.entries(variables).toSorted(([left], [right]) => (left < right ? -1 : 1));
    return createHash('sha256')
      .update(JSON.stringify([sorted, links, urls, tenant]))
      .digest('hex');
  });
  return $util.secret(digest);
}

/**
 * All that decides whether a function can work, beside its code: what it is told, where it runs and what it may do. The mode, the
 * driver and the keys are part of what it is told.
 */
function digestOfFunction(lambda: sst.aws.Function, told: $util.Output<string>): $util.Output<string> {
  const { environment, vpcConfig } = lambda.nodes.function;
  const { inlinePolicies } = lambda.nodes.role;
  return $util
    .all([told, environment, vpcConfig, inlinePolicies])
    .apply(([settings, has, network, policies]) => {
      const variables = Object.entries(has?.variables ?? {}).toSorted(([left], [right]) =>
        left < right ? -1 : 1,
      );
      const where = [network?.subnetIds ?? [], network?.securityGroupIds ?? []].map((ids) => ids.toSorted());
      const may = policies.map(({ policy }) => policy);
      return createHash('sha256')
        .update(JSON.stringify([settings, variables, where, may]))
        .digest('hex');
    });
}

/**
 * Where the functions are not the owner of the schema, their login is made, if it is not there, and let in by the migrations. Its
 * name is no secret.
 */
function toLetIn({ databaseUrl, ownerUrl }: Databases): Readonly<Record<string, $util.Input<string>>> {
  if (databaseUrl === ownerUrl) return {};
  const address = $util.output(databaseUrl);
  return {
    STEPWELL_LOGIN: $util.unsecret(address.apply(loginOf)),
    STEPWELL_LOGIN_PASSWORD: $util.secret(address.apply(passwordOf)),
  };
}

/** The properties of linked resources, as the functions see them. */
function linked(link: StepwellArgs['link']): $util.Output<unknown> {
  return $util.output(link ?? []).apply((resources: readonly unknown[]) =>
    // They are outputs in turn, which have to be waited for.
    $util.output(
      resources.map((resource) => {
        const has = typeof resource === 'object' && resource !== null && 'getSSTLink' in resource;
        return has && typeof resource.getSSTLink === 'function' ? resource.getSSTLink().properties : null;
      }),
    ),
  );
}
