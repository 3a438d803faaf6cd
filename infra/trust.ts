/**
 * The trust of a role that schedules take: those of one group of this account, and no others. Else any account's schedules
 * that learn the role's name could make the scheduler use it for them.
 */
export function trustOfSchedules(groupArn: $util.Input<string>): $util.Output<string> {
  const { accountId } = aws.getCallerIdentityOutput({});
  const from = { 'aws:SourceAccount': accountId, 'aws:SourceArn': groupArn };
  const statement = {
    Effect: 'Allow',
    Action: 'sts:AssumeRole',
    Principal: { Service: 'scheduler.amazonaws.com' },
    Condition: { StringEquals: from },
  };
  return $util.jsonStringify({ Version: '2012-10-17', Statement: [statement] });
}

/** The group of schedules that name none. */
export function defaultGroupArn(): $util.Output<string> {
  const { partition } = aws.getPartitionOutput({});
  const { region } = aws.getRegionOutput({});
  const { accountId } = aws.getCallerIdentityOutput({});
  return $util.interpolate`arn:${partition}:scheduler:${region}:${accountId}:schedule-group/default`;
}
