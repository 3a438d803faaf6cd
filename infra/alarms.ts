import type { Functions } from './functions.ts';
import type { Parts } from './parts.ts';
import type { Queues } from './queues.ts';
import { sweepMinutes } from './sweep.ts';

/** Runs that are due wait longer than this only when something is wrong or too small (reliability.md 5.4). */
const OLDEST_DUE_MS = 5 * 60_000;
const MINUTE = 60;

interface Watched {
  readonly parts: Parts;
  readonly functions: Functions;
  readonly queues: Queues;
}

/** What a person has to be told: runs are late, nobody looks after them, messages were given up, functions fail. */
export function createAlarms(watched: Watched): readonly aws.cloudwatch.MetricAlarm[] {
  const { parts, functions, queues } = watched;
  const actions = alarmActions(parts);
  const alarm = (name: string, what: AlarmArgs): aws.cloudwatch.MetricAlarm =>
    new aws.cloudwatch.MetricAlarm(
      `${parts.name}${name}`,
      { evaluationPeriods: 1, comparisonOperator: 'GreaterThanThreshold', alarmActions: actions, ...what },
      parts.opts,
    );
  const named = {
    Api: functions.api.nodes.function,
    Stream: functions.stream.nodes.function,
    Turn: functions.turn.nodes.function.nodes.function,
    Sweep: functions.sweep.nodes.function,
    DeadLetter: functions.deadLetter.nodes.function.nodes.function,
  };
  return [
    alarm('OldestDue', oldestDue(watched)),
    alarm('SweepMissing', sweepMissing(parts, named.Sweep.name)),
    alarm('DeadLetters', {
      alarmDescription:
        'Queue messages failed again and again. Their runs are safe: the sweep finds them. See the log.',
      ...ofLambda('Invocations', named.DeadLetter.name),
    }),
    alarm('DeadLettersLeft', {
      alarmDescription: 'Messages stay in the dead-letter queue: the function that drains it does not.',
      namespace: 'AWS/SQS',
      metricName: 'ApproximateNumberOfMessagesVisible',
      dimensions: { QueueName: queues.deadLetters.nodes.queue.name },
      statistic: 'Minimum',
      period: 15 * MINUTE,
      threshold: 0,
      treatMissingData: 'notBreaching',
    }),
    ...Object.entries(named).map(([name, { name: functionName }]) =>
      alarm(`${name}Errors`, {
        alarmDescription: `Invocations of the ${name} function end in errors or time-outs.`,
        ...ofLambda('Errors', functionName),
      }),
    ),
  ];
}

type AlarmArgs = Omit<aws.cloudwatch.MetricAlarmArgs, 'comparisonOperator' | 'evaluationPeriods'> &
  Partial<Pick<aws.cloudwatch.MetricAlarmArgs, 'comparisonOperator' | 'evaluationPeriods'>>;

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

/** The sweep says how late the oldest run is, and CloudWatch reads it from its log. */
function oldestDue({ parts, functions }: Watched): AlarmArgs {
  const metric = { namespace: `Stepwell/${$app.name}/${$app.stage}`, name: `${parts.name}OldestDueMs` };
  new aws.cloudwatch.LogMetricFilter(
    `${parts.name}OldestDueMs`,
    {
      logGroupName: functions.sweep.nodes.logGroup.apply((group) => group?.name ?? $util.output('')),
      pattern: '{ $.oldest_due_ms = * }',
      metricTransformation: { ...metric, value: '$.oldest_due_ms', unit: 'Milliseconds' },
    },
    parts.opts,
  );
  return {
    alarmDescription: 'Runs that are due have not been looked at for more than five minutes.',
    namespace: metric.namespace,
    metricName: metric.name,
    statistic: 'Maximum',
    period: MINUTE,
    evaluationPeriods: 2,
    threshold: OLDEST_DUE_MS,
    treatMissingData: 'notBreaching',
  };
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
