import * as z from 'zod';
import type { Evaluated, Resource } from './evaluate.ts';

/** Names of the functions of an installation, as they stand in the names of resources. */
export const SERVING = ['Api', 'Stream', 'Turn', 'Sweep', 'DeadLetter'] as const;
export type FunctionName = (typeof SERVING)[number] | 'Deploy';

const PATTERNS: Readonly<Record<FunctionName, RegExp>> = {
  Api: /^\w+?ApiFunction$/,
  Stream: /^\w+?StreamFunction$/,
  Turn: /TurnsSubscriber\w+?FunctionFunction$/,
  Sweep: /^\w+?SweepFunction$/,
  DeadLetter: /DeadLettersSubscriber\w+?FunctionFunction$/,
  Deploy: /^\w+?DeployFunction$/,
};

const LambdaFunction = z.looseObject({
  name: z.string(),
  architectures: z.array(z.string()),
  runtime: z.string(),
  memorySize: z.number(),
  timeout: z.number(),
  handler: z.string(),
  s3Key: z.string(),
  loggingConfig: z.object({ logGroup: z.string() }),
  reservedConcurrentExecutions: z.number().optional(),
  vpcConfig: z.object({ subnetIds: z.array(z.string()), securityGroupIds: z.array(z.string()) }).optional(),
  environment: z.object({ variables: z.record(z.string(), z.string()) }),
});

export interface FoundFunction extends z.infer<typeof LambdaFunction> {
  /** Name of the resource. */
  readonly resourceName: string;
  /** Paths of the inputs that the state keeps encrypted. */
  readonly secrets: readonly string[];
  /** Its place in the order of registration. */
  readonly order: number;
}

/** The only resource of a type whose name fits. Throws when there are none or several. */
export function only({ resources }: Evaluated, type: string, name: RegExp = /./): Resource {
  const found = resources.filter((resource) => resource.type === type && name.test(resource.name));
  const [first] = found;
  if (first === undefined || found.length > 1) {
    throw new Error(`${found.length} resources ${type} fit ${String(name)}`);
  }
  return first;
}

export const isEconomy = ({ resources }: Evaluated): boolean =>
  resources.some(({ type }) => type.endsWith(':ScheduleGroup'));

export function functionOf(evaluated: Evaluated, name: FunctionName): FoundFunction {
  const resource = only(evaluated, 'aws:lambda/function:Function', PATTERNS[name]);
  return {
    ...LambdaFunction.parse(resource.inputs),
    resourceName: resource.name,
    secrets: resource.secrets,
    order: evaluated.resources.indexOf(resource),
  };
}

const Policy = z.object({
  Statement: z.array(
    z.object({
      effect: z.string().optional(),
      actions: z.array(z.string()),
      resources: z.array(z.string()).optional(),
      conditions: z.array(z.object({ variable: z.string(), values: z.array(z.string()) })).optional(),
      principals: z.array(z.object({ type: z.string(), identifiers: z.array(z.string()) })).optional(),
    }),
  ),
});

/** What the role of a function allows: `action on resource (if …)`, sorted. Managed policies stand under their names. */
export function allowedTo(evaluated: Evaluated, name: FunctionName): readonly string[] {
  const { inputs } = roleOf(evaluated, name);
  const inline = z.array(z.object({ policy: z.string() })).parse(inputs['inlinePolicies'] ?? []);
  const statements = inline.flatMap(({ policy }) => Policy.parse(JSON.parse(policy)).Statement);
  const own = statements.flatMap(({ actions, resources = [], conditions = [] }) => {
    const when = conditions.map(({ variable, values }) => ` if ${variable} is ${values.join()}`).join('');
    return actions.flatMap((action) =>
      resources.map((resource) => `${action} on ${resource.replace(/:[*]$/, '').split(':').at(-1)}${when}`),
    );
  });
  const managed = z.array(z.string()).parse(inputs['managedPolicyArns']);
  return [...own, ...managed.map((arn) => arn.split('/').at(-1) ?? arn)].toSorted();
}

/** Who may take the role of a function. */
export function trusted(evaluated: Evaluated, name: FunctionName): string {
  return z
    .string()
    .or(z.json())
    .transform((policy) => JSON.stringify(policy))
    .parse(roleOf(evaluated, name).inputs['assumeRolePolicy']);
}

function roleOf(evaluated: Evaluated, name: FunctionName): Resource {
  const { resourceName } = functionOf(evaluated, name);
  return only(evaluated, 'aws:iam/role:Role', new RegExp(`^${resourceName.replace(/Function$/, '')}Role$`));
}
