import type { StageSettings } from './stage.ts';
import type { Parts } from './parts.ts';

const DAYS: Readonly<Record<StageSettings['logRetention'], number>> = {
  '1 week': 7,
  '1 month': 30,
  '3 months': 90,
  '1 year': 365,
};

/**
 * The log of one function. sst would make one after the role, under a name that the role cannot know; this one is there before, so
 * that the role may write it and no other.
 */
export function createLog({ name, stage, opts }: Parts, role: string): aws.cloudwatch.LogGroup {
  return new aws.cloudwatch.LogGroup(
    `${name}${role}Log`,
    {
      namePrefix: `/stepwell/${$app.name}/${$app.stage}/${name}${role}-`,
      retentionInDays: DAYS[stage.logRetention],
    },
    opts,
  );
}

/** What a function in a network of its own does with the interfaces of that network; AWS takes this for all of them only. */
const INTERFACES = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

/** What the managed roles of AWS would allow for every log group of the account, for one. */
export function rightsOfHost(log: aws.cloudwatch.LogGroup, isInVpc: boolean): $util.Output<string> {
  const writes = {
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [$util.interpolate`${log.arn}:*`],
  };
  const statements = [writes, ...(isInVpc ? [{ actions: INTERFACES, resources: ['*'] }] : [])];
  return aws.iam.getPolicyDocumentOutput({ statements }).json;
}
