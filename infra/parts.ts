import type { StepwellArgs } from './args.ts';
import type { Entries } from './entries.ts';
import { asSecret } from './environment.ts';
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
export function baseFunction({ args, stage }: Parts) {
  return {
    runtime: 'nodejs24.x',
    architecture: 'arm64',
    memory: '512 MB',
    timeout: `${TIME_LIMIT_SECONDS} seconds`,
    logging: { retention: stage.logRetention },
    // Chunks of their own are loaded when they are needed; pg looks for a native part that is not there.
    nodejs: { splitting: true, esbuild: { external: ['pg-native'] } },
    ...(args.vpc === undefined ? {} : { vpc: args.vpc }),
    ...(args.link === undefined ? {} : { link: args.link }),
    transform: ofAll,
  } as const satisfies Partial<sst.aws.FunctionArgs>;
}

/** What all functions have otherwise than sst would have it. */
export const ofAll = { role: ofLambdaOnly, function: asSecret } as const;

/** sst also lets the whole account take the role of a function, which only `sst dev` needs. */
function ofLambdaOnly(role: aws.iam.RoleArgs): undefined {
  if (!$dev) {
    role.assumeRolePolicy = aws.iam.assumeRolePolicyForPrincipal({ Service: 'lambda.amazonaws.com' });
  }
}
