import { type AlarmArgs, computed, HOUR, lasting, MINUTE, ofLambda, ofLog } from './alarm-metrics.ts';
import { type Functions, lambdasOf } from './functions.ts';
import type { Parts } from './parts.ts';
import type { Queues } from './queues.ts';
import { patienceOf, sweepMinutes } from './sweep.ts';

/** Runs that are due wait longer than this only when something is wrong or too small (reliability.md 5.4). */
const OLDEST_DUE_MS = 5 * 60_000;
/** A message that is received as often has failed twice; after the fifth time it goes to the dead letters. */
const RETURNS = 3;
/** Hints are delayed by up to 15 minutes, which may count. */
const OLDEST_MESSAGE_SECONDS = 30 * 60;

interface Watched {
  readonly parts: Parts;
  readonly functions: Functions;
  readonly queues: Queues;
  /** What has called the sweep, or will: an alarm for its silence that is there before them would begin with telling. */
  readonly sweptBy: readonly $util.Resource[];
}

const isEconomy = ({ args }: Parts): boolean => args.mode === 'economy';

/** What a person has to be told: runs are late, nobody looks after them, messages come back or were given up, functions fail. */
export function createAlarms(watched: Watched): void {
  const { parts, functions, sweptBy } = watched;
  const tell = tellers(parts);
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
    alarms[`${name}Errors`] = errors(parts, name, functionName);
  }
  for (const name of ['Api', 'Stream', 'Turn', 'Sweep'] as const) {
    alarms[`${name}Throttles`] = throttles(parts, name, lambdas[name].name);
  }
  for (const name of ['Api', 'Stream'] as const) {
    alarms[`${name}Faults`] = faults(name, lambdas[name].name);
  }
  for (const [name, what] of Object.entries(alarms)) {
    new aws.cloudwatch.MetricAlarm(
      `${parts.name}${name}`,
      { evaluationPeriods: 1, comparisonOperator: 'GreaterThanThreshold', ...tell, ...what },
      name === 'SweepMissing' ? { ...parts.opts, dependsOn: [...sweptBy] } : parts.opts,
    );
  }
}

/**
 * One failure counts, except of a sweep that comes each minute: a database that starts anew costs one or two, and the next
 * sweep does the same.
 */
function errors(parts: Parts, name: string, functionName: $util.Input<string>): AlarmArgs {
  return {
    alarmDescription: `Invocations of the ${name} function end in errors or time-outs.`,
    ...ofLambda('Errors', functionName),
    ...(name === 'Sweep' && !isEconomy(parts) ? lasting(MINUTE, 3, 5) : {}),
  };
}

/**
 * What is turned away comes again by itself or is tried again by its caller, so only what lasts is told; except of a sweep
 * that comes once in hours.
 */
function throttles(parts: Parts, name: string, functionName: $util.Input<string>): AlarmArgs {
  return {
    alarmDescription: `The account has no room for the ${name} function: its concurrency is used up.`,
    ...ofLambda('Throttles', functionName),
    ...(name === 'Sweep' && isEconomy(parts) ? {} : lasting(5 * MINUTE, 3, 3)),
  };
}

/** A 503 is a normal end of an invocation: the database could not be asked, or no wake could be kept. */
function faults(name: string, functionName: $util.Input<string>): AlarmArgs {
  return {
    alarmDescription: `The ${name} function answers 5xx: the database or a wake is not to be had, or it fails.`,
    ...ofLambda('Url5xxCount', functionName),
    ...lasting(5 * MINUTE, 2, 3),
  };
}

function ofQueues({ turns, deadLetters }: Queues): Record<string, AlarmArgs> {
  const ofDeadLetters = (metricName: string) => ({
    namespace: 'AWS/SQS',
    metricName,
    dimensions: { QueueName: deadLetters.nodes.queue.name },
    stat: 'Maximum',
  });
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
      // A message that fails is out with a poller most of the time. Both counts are approximate, so a gap is forgiven.
      ...computed('visible + hidden', MINUTE, {
        visible: ofDeadLetters('ApproximateNumberOfMessagesVisible'),
        hidden: ofDeadLetters('ApproximateNumberOfMessagesNotVisible'),
      }),
      evaluationPeriods: 15,
      datapointsToAlarm: 12,
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
  const logGroupName = functions.logs.Sweep.name;
  return {
    alarmDescription: 'Runs that are due have not been looked at for more than five minutes.',
    ...ofLog(parts, { name: 'OldestDueMs', logGroupName, field: 'oldest_due_ms', unit: 'Milliseconds' }),
    ...(isEconomy(parts) ? lasting(5 * MINUTE, 1, 1) : lasting(MINUTE, 2, 2)),
    threshold: OLDEST_DUE_MS,
  };
}

/**
 * The turn function says which messages it has received before. The queue's own age of the oldest message leaves those out that
 * come back again and again, and failures of single messages are no errors of the function.
 */
function messagesReturn({ parts, functions }: Watched): AlarmArgs {
  const logGroupName = functions.logs.Turn.name;
  return {
    alarmDescription: `Messages were received ${RETURNS} times: they fail, or time or room is short. See the log.`,
    ...ofLog(parts, { name: 'ReceiveCount', logGroupName, field: 'receive_count', unit: 'Count' }),
    period: 5 * MINUTE,
    comparisonOperator: 'GreaterThanOrEqualToThreshold',
    threshold: RETURNS,
  };
}

/** A sweep may be this much later than it should before anybody is told, in periods. */
const SILENT_PERIODS_MIN = 5;

/**
 * Its silence is what it is about. CloudWatch looks for data beyond the periods that count before it takes missing ones for bad, so
 * with one long period it would wait for several of them; here silence is filled with zeros, period by period. There are
 * enough of them for a tick that came as late as it may.
 */
function sweepMissing(parts: Parts, functionName: $util.Input<string>): AlarmArgs {
  const seconds = sweepMinutes(parts) * MINUTE;
  const period = seconds < HOUR ? MINUTE : HOUR;
  const periods = Math.max(
    SILENT_PERIODS_MIN,
    Math.ceil((seconds + patienceOf(parts).ageSeconds) / period) + 1,
  );
  return {
    alarmDescription: 'The sweep did not come: timers, lost messages and dead leases wait.',
    ...computed('FILL(calls, 0)', period, {
      calls: {
        namespace: 'AWS/Lambda',
        metricName: 'Invocations',
        dimensions: { FunctionName: functionName },
        stat: 'Sum',
      },
    }),
    evaluationPeriods: periods,
    datapointsToAlarm: periods,
    comparisonOperator: 'LessThanThreshold',
    threshold: 1,
    // Nothing is filled where there is no data at all.
    treatMissingData: 'breaching',
  };
}

/** Who is told when it begins and when it is over. */
function tellers({
  name,
  args: { alarms },
  opts,
}: Parts): Pick<aws.cloudwatch.MetricAlarmArgs, 'alarmActions' | 'okActions'> {
  if (alarms === undefined) return {};
  if ('topicArn' in alarms) return { alarmActions: [alarms.topicArn], okActions: [alarms.topicArn] };
  const topic = new aws.sns.Topic(`${name}Alarms`, {}, opts);
  new aws.sns.TopicSubscription(
    `${name}AlarmMail`,
    { topic: topic.arn, protocol: 'email', endpoint: alarms.email },
    opts,
  );
  return { alarmActions: [topic.arn], okActions: [topic.arn] };
}
