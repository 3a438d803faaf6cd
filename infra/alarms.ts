import { type Functions, lambdasOf } from './functions.ts';
import type { Parts } from './parts.ts';
import type { Queues } from './queues.ts';
import { sweepMinutes } from './sweep.ts';

/** Runs that are due wait longer than this only when something is wrong or too small (reliability.md 5.4). */
const OLDEST_DUE_MS = 5 * 60_000;
/** A message that is received as often has failed twice; after the fifth time it goes to the dead letters. */
const RETURNS = 3;
/** Hints are delayed by up to 15 minutes, which may count. */
const OLDEST_MESSAGE_SECONDS = 30 * 60;
const MINUTE = 60;

interface Watched {
  readonly parts: Parts;
  readonly functions: Functions;
  readonly queues: Queues;
}

type AlarmArgs = Omit<aws.cloudwatch.MetricAlarmArgs, 'comparisonOperator' | 'evaluationPeriods'> &
  Partial<Pick<aws.cloudwatch.MetricAlarmArgs, 'comparisonOperator' | 'evaluationPeriods'>>;

/** What a person has to be told: runs are late, nobody looks after them, messages come back or were given up, functions fail. */
export function createAlarms(watched: Watched): void {
  const { parts, functions } = watched;
  const actions = alarmActions(parts);
  const lambdas = lambdasOf(functions);
  const alarms: Record<string, AlarmArgs> = {
    OldestDue: oldestDue(watched),
    SweepMissing: sweepMissing(parts, lambdas.Sweep.name),
    MessagesReturn: messagesReturn(watched),
    ...ofQueues(watched.queues),
    DeadLetters: {
      alarmDescription:
        'Queue messages failed again and again. Their runs are safe: the sweep finds them. See the log.',
      ...ofLambda('Invocations', lambdas.DeadLetter.name),
    },
  };
  for (const [name, { name: functionName }] of Object.entries(lambdas)) {
    alarms[`${name}Errors`] = {
      alarmDescription: `Invocations of the ${name} function end in errors or time-outs.`,
      ...ofLambda('Errors', functionName),
    };
  }
  for (const name of ['Api', 'Stream', 'Turn', 'Sweep'] as const) {
    alarms[`${name}Throttles`] = throttles(name, lambdas[name].name);
  }
  for (const [name, what] of Object.entries(alarms)) {
    new aws.cloudwatch.MetricAlarm(
      `${parts.name}${name}`,
      { evaluationPeriods: 1, comparisonOperator: 'GreaterThanThreshold', alarmActions: actions, ...what },
      parts.opts,
    );
  }
}

/** More than none in five minutes. */
function ofLambda(metricName: string, functionName: $util.Input<string>): AlarmArgs {
  return {
    namespace: 'AWS/Lambda',
    metricName,
    dimensions: { FunctionName: functionName },
    statistic: 'Sum',
    period: 5 * MINUTE,
    threshold: 0,
    treatMissingData: 'notBreaching',
  };
}

/** A turn that is turned away comes again by itself, so only what lasts is told. Callers of the API were told no. */
function throttles(name: string, functionName: $util.Input<string>): AlarmArgs {
  return {
    alarmDescription: `The account has no room for the ${name} function: its concurrency is used up.`,
    ...ofLambda('Throttles', functionName),
    ...(name === 'Turn' ? { evaluationPeriods: 3 } : {}),
  };
}

function ofQueues({ turns, deadLetters }: Queues): Record<string, AlarmArgs> {
  return {
    OldestMessage: {
      alarmDescription: 'Messages wait for half an hour: nobody receives them, or there are far too many.',
      namespace: 'AWS/SQS',
      metricName: 'ApproximateAgeOfOldestMessage',
      dimensions: { QueueName: turns.nodes.queue.name },
      statistic: 'Maximum',
      period: 5 * MINUTE,
      threshold: OLDEST_MESSAGE_SECONDS,
      treatMissingData: 'notBreaching',
    },
    DeadLettersLeft: {
      alarmDescription: 'Messages stay in the dead-letter queue: the function that drains it does not.',
      namespace: 'AWS/SQS',
      metricName: 'ApproximateNumberOfMessagesVisible',
      dimensions: { QueueName: deadLetters.nodes.queue.name },
      statistic: 'Minimum',
      period: 15 * MINUTE,
      threshold: 0,
      treatMissingData: 'notBreaching',
    },
  };
}

/**
 * The sweep says how late the oldest run is before it claims anything. In economy mode one such look counts, because the
 * next may be hours away.
 */
function oldestDue({ parts, functions }: Watched): AlarmArgs {
  const group = functions.sweep.nodes.logGroup;
  const logGroupName = group.apply((found) => found?.name ?? $util.output(''));
  return {
    alarmDescription: 'Runs that are due have not been looked at for more than five minutes.',
    ...ofLog(parts, { name: 'OldestDueMs', logGroupName, field: 'oldest_due_ms', unit: 'Milliseconds' }),
    ...(parts.args.mode === 'economy'
      ? { period: 5 * MINUTE, evaluationPeriods: 1 }
      : { period: MINUTE, evaluationPeriods: 2 }),
    threshold: OLDEST_DUE_MS,
  };
}

/**
 * The turn function says which messages it has received before. The queue's own age of the oldest message leaves those out that
 * come back again and again, and failures of single messages are no errors of the function.
 */
function messagesReturn({ parts, functions }: Watched): AlarmArgs {
  const group = functions.turn.nodes.function.nodes.logGroup;
  const logGroupName = group.apply((found) => found?.name ?? $util.output(''));
  return {
    alarmDescription: `Messages were received ${RETURNS} times: they fail, or time or room is short. See the log.`,
    ...ofLog(parts, { name: 'ReceiveCount', logGroupName, field: 'receive_count', unit: 'Count' }),
    period: 5 * MINUTE,
    comparisonOperator: 'GreaterThanOrEqualToThreshold',
    threshold: RETURNS,
  };
}

interface Logged {
  readonly name: string;
  readonly logGroupName: $util.Input<string>;
  /** Of the lines that say it. */
  readonly field: string;
  readonly unit: string;
}

/** What a function writes to its log, whatever the level, as a metric. */
function ofLog({ name: prefix, opts }: Parts, { name, logGroupName, field, unit }: Logged) {
  const metric = { namespace: `Stepwell/${$app.name}/${$app.stage}`, name: `${prefix}${name}` };
  new aws.cloudwatch.LogMetricFilter(
    metric.name,
    {
      logGroupName,
      pattern: `{ $.${field} = * }`,
      metricTransformation: { ...metric, value: `$.${field}`, unit },
    },
    opts,
  );
  const { namespace, name: metricName } = metric;
  return { namespace, metricName, statistic: 'Maximum', treatMissingData: 'notBreaching' };
}

/** Its silence is what it is about, so missing data counts. */
function sweepMissing(parts: Parts, functionName: $util.Input<string>): AlarmArgs {
  const minutes = sweepMinutes(parts);
  return {
    alarmDescription: 'The sweep did not come: timers, lost messages and dead leases wait.',
    ...ofLambda('Invocations', functionName),
    comparisonOperator: 'LessThanThreshold',
    threshold: 1,
    period: Math.max(5, 2 * minutes) * MINUTE,
    treatMissingData: 'breaching',
  };
}

function alarmActions({ name, args: { alarms }, opts }: Parts): $util.Input<string>[] {
  if (alarms === undefined) return [];
  if ('topicArn' in alarms) return [alarms.topicArn];
  const topic = new aws.sns.Topic(`${name}Alarms`, {}, opts);
  new aws.sns.TopicSubscription(
    `${name}AlarmMail`,
    { topic: topic.arn, protocol: 'email', endpoint: alarms.email },
    opts,
  );
  return [topic.arn];
}
