import type { Parts } from './parts.ts';

/** All of an alarm but its name, its tellers and what is the same for all. */
export type AlarmArgs = Omit<aws.cloudwatch.MetricAlarmArgs, 'comparisonOperator' | 'evaluationPeriods'> &
  Partial<Pick<aws.cloudwatch.MetricAlarmArgs, 'comparisonOperator' | 'evaluationPeriods'>>;

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;

/** More than none in five minutes. */
export function ofLambda(metricName: string, functionName: $util.Input<string>): AlarmArgs {
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

/** An alarm that goes off when `count` of the last `outOf` periods, of so many seconds, are bad. */
export function lasting(period: number, count: number, outOf: number): Partial<AlarmArgs> {
  return { period, evaluationPeriods: outOf, datapointsToAlarm: count };
}

interface Metric {
  readonly namespace: string;
  readonly metricName: string;
  readonly dimensions: Readonly<Record<string, $util.Input<string>>>;
  readonly stat: string;
}

/** What is computed of metrics, which the expression knows by their names here. An alarm with these has no period of its own. */
export function computed(
  expression: string,
  period: number,
  metrics: Readonly<Record<string, Metric>>,
): Pick<aws.cloudwatch.MetricAlarmArgs, 'metricQueries'> {
  const read = Object.entries(metrics).map(([id, { dimensions, ...metric }]) => ({
    id,
    metric: { ...metric, dimensions: { ...dimensions }, period },
  }));
  return { metricQueries: [{ id: 'watched', expression, label: expression, returnData: true }, ...read] };
}

export interface Logged {
  readonly name: string;
  readonly logGroupName: $util.Input<string>;
  /** Of the lines that say it. */
  readonly field: string;
  readonly unit: string;
}

/** What a function writes to its log, whatever the level, as a metric. */
export function ofLog({ name: prefix, opts }: Parts, { name, logGroupName, field, unit }: Logged) {
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
