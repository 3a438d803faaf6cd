import type { StepwellArgs } from './args.ts';
import type { Entries } from './entries.ts';
import { asSecret } from './environment.ts';
import { rightsOfHost } from './logs.ts';
import type { StageSettings } from './stage.ts';

/** What the parts of one installation share while they are put together. */
export interface Parts {
  readonly name: string;
  readonly args: StepwellArgs;
  readonly entries: Entries;
  readonly stage: StageSettings;
  /** The component is the parent of everything. */
  readonly opts: { readonly parent: $util.Resource };
}

/** The time limit of functions (reliability.md 5.3). The queue's visibility is six times as long. */
export const TIME_LIMIT_SECONDS = 60;
export const RECEIVES_MAX = 5;

/** What all functions have in common: small ARM machines whose logs do not stay for ever, with the resources that the user's modules name. */
export function baseFunction({ args }: Parts, log: aws.cloudwatch.LogGroup) {
  return {
    runtime: 'nodejs24.x',
    architecture: 'arm64',
    memory: '512 MB',
    timeout: `${TIME_LIMIT_SECONDS} seconds`,
    logging: { logGroup: log.name },
    // Chunks of their own are loaded when they are needed; pg looks for a native part that is not there.
    nodejs: { splitting: true, esbuild: { external: ['pg-native'] } },
    ...(args.vpc === undefined ? {} : { vpc: args.vpc }),
    ...(args.link === undefined ? {} : { link: args.link }),
    transform: { role: confined(rightsOfHost(log, args.vpc !== undefined)), function: asSecret },
  } as const satisfies Partial<sst.aws.FunctionArgs>;
}

/**
 * The role of a function is Lambda's alone: sst also lets the whole account take it, which only `sst dev` needs. It may do what its
 * function and its host need.
 */
function confined(rights: $util.Output<string>): (role: aws.iam.RoleArgs) => undefined {
  return (role) => {
    if ($dev) return;
    role.assumeRolePolicy = aws.iam.assumeRolePolicyForPrincipal({ Service: 'lambda.amazonaws.com' });
    role.inlinePolicies = $util
      .all([role.inlinePolicies ?? [], rights])
      .apply(([given, policy]) => [...given, { name: 'host', policy }]);
    role.managedPolicyArns = [];
  };
}
