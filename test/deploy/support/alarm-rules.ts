import { expect } from 'vitest';
import * as z from 'zod';
import type { Evaluated, Resource } from './evaluate.ts';
import { functionOf, isEconomy, only, SERVING } from './resources.ts';
import { edit, type Rule } from './rule.ts';

const QUEUE = 'aws:sqs/queue:Queue';
const ALARM = 'aws:cloudwatch/metricAlarm:MetricAlarm';

const alarm = (evaluated: Evaluated, name: string): Resource =>
  only(evaluated, ALARM, new RegExp(`^Stepwell${name}$`));

export const alarmsOf = ({ resources }: Evaluated): readonly Resource[] =>
  resources.filter(({ type }) => type === ALARM);

const Queries = z.array(
  z.object({
    id: z.string(),
    expression: z.string().optional(),
    metric: z.looseObject({ period: z.number() }).optional(),
  }),
);
const When = z.object({
  evaluationPeriods: z.number(),
  datapointsToAlarm: z.number().optional(),
  period: z.number().optional(),
  metricQueries: Queries.default([]),
});

/** The metrics that an alarm reads, each of which is paid for. */
export function metricsOf({ inputs }: Resource): readonly unknown[] {
  const { metricQueries, period } = When.parse(inputs);
  return period === undefined ? metricQueries.flatMap(({ metric }) => metric ?? []) : [inputs['metricName']];
}

/** `3 of 5 × 60 s`: when an alarm goes off. */
function whenOf({ inputs }: Resource): string {
  const {
    evaluationPeriods,
    datapointsToAlarm = evaluationPeriods,
    period,
    metricQueries,
  } = When.parse(inputs);
  const periods = new Set([period, ...metricQueries.map(({ metric }) => metric?.period)]);
  periods.delete(undefined);
  return `${datapointsToAlarm} of ${evaluationPeriods} × ${[...periods].join(' and ')} s`;
}

const ONCE = '1 of 1 × 300 s';

/** When each alarm goes off, and where it differs in economy mode. */
const PERIODS: Readonly<Record<string, string | readonly [steady: string, economy: string]>> = {
  OldestDue: ['2 of 2 × 60 s', ONCE],
  // Six hours, the hour that a tick may be late, and one more: those of CloudWatch begin with the clock.
  SweepMissing: ['5 of 5 × 60 s', '8 of 8 × 3600 s'],
  MessagesReturn: ONCE,
  OldestMessage: ONCE,
  DeadLetters: ONCE,
  DeadLettersLeft: '12 of 15 × 60 s',
  ApiErrors: ONCE,
  StreamErrors: ONCE,
  TurnErrors: ONCE,
  SweepErrors: ['3 of 5 × 60 s', ONCE],
  DeadLetterErrors: ONCE,
  ApiThrottles: '3 of 3 × 300 s',
  StreamThrottles: '3 of 3 × 300 s',
  TurnThrottles: '3 of 3 × 300 s',
  SweepThrottles: ['3 of 3 × 300 s', ONCE],
  ApiFaults: '2 of 3 × 300 s',
  StreamFaults: '2 of 3 × 300 s',
};

/** Names of all alarms, as the documentation has them. */
export const ALARM_NAMES = Object.keys(PERIODS);

/** The alarm reads what a function writes to its log under this name. */
function readsLog(evaluated: Evaluated, name: string, field: string, functionName: RegExp): void {
  const { inputs } = alarm(evaluated, name);
  const filter = evaluated.resources.find(
    ({ type, inputs: { pattern } }) =>
      type === 'aws:cloudwatch/logMetricFilter:LogMetricFilter' && pattern === `{ $.${field} = * }`,
  );
  expect(filter?.inputs).toMatchObject({
    logGroupName: expect.stringMatching(functionName),
    metricTransformation: {
      name: inputs['metricName'],
      namespace: inputs['namespace'],
      value: `$.${field}`,
    },
  });
}

export const ALARMS: readonly Rule[] = [
  {
    name: 'an alarm goes off when runs are late',
    holds: (evaluated) => {
      expect(alarm(evaluated, 'OldestDue').inputs).toMatchObject({
        threshold: 300_000,
        comparisonOperator: 'GreaterThanThreshold',
        statistic: 'Maximum',
      });
      readsLog(evaluated, 'OldestDue', 'oldest_due_ms', /SweepLog$/);
    },
    mistake: edit('infra/alarm-metrics.ts', 'value: `$.${field}`', "value: '1'"),
  },
  {
    name: 'an alarm goes off when messages come back, before they are given up',
    holds: (evaluated) => {
      const { inputs } = alarm(evaluated, 'MessagesReturn');
      expect(inputs).toMatchObject({
        threshold: 3,
        comparisonOperator: 'GreaterThanOrEqualToThreshold',
        statistic: 'Maximum',
      });
      readsLog(evaluated, 'MessagesReturn', 'receive_count', /TurnLog$/);
    },
    mistake: edit('infra/alarms.ts', 'const RETURNS = 3', 'const RETURNS = 6'),
  },
  {
    name: 'an alarm goes off when messages are not received, later than any delay',
    holds: (evaluated) => {
      const { name } = only(evaluated, QUEUE, /TurnsQueue$/).inputs;
      expect(alarm(evaluated, 'OldestMessage').inputs).toMatchObject({
        metricName: 'ApproximateAgeOfOldestMessage',
        dimensions: { QueueName: name },
        statistic: 'Maximum',
        threshold: 1800,
      });
    },
    mistake: edit('infra/alarms.ts', '30 * 60', '10 * 60'),
  },
  {
    name: 'an alarm goes off when there is no room for a function',
    holds: (evaluated) => {
      for (const name of ['Api', 'Stream', 'Turn', 'Sweep'] as const) {
        expect(alarm(evaluated, `${name}Throttles`).inputs).toMatchObject({
          metricName: 'Throttles',
          dimensions: { FunctionName: functionOf(evaluated, name).name },
          threshold: 0,
        });
      }
    },
    mistake: edit('infra/alarms.ts', "['Api', 'Stream', 'Turn', 'Sweep']", "['Api']"),
  },
  {
    name: 'an alarm goes off when the sweep does not come, and is not there before it came once',
    holds: (evaluated) => {
      const { inputs, after } = alarm(evaluated, 'SweepMissing');
      expect(inputs).toMatchObject({
        comparisonOperator: 'LessThanThreshold',
        threshold: 1,
        treatMissingData: 'breaching',
        metricQueries: [
          { expression: 'FILL(calls, 0)', returnData: true },
          {
            id: 'calls',
            metric: {
              metricName: 'Invocations',
              dimensions: { FunctionName: functionOf(evaluated, 'Sweep').name },
              stat: 'Sum',
            },
          },
        ],
      });
      expect(after).toEqual(['StepwellCheck', 'StepwellTick']);
    },
    mistake: edit('infra/alarms.ts', "name === 'SweepMissing' ?", "name === 'SweepMissed' ?"),
  },
  {
    name: 'silence of the sweep is counted as such, period by period',
    holds: (evaluated) => {
      const { metricQueries } = When.parse(alarm(evaluated, 'SweepMissing').inputs);
      expect(metricQueries.map(({ expression = '' }) => expression)).toContain('FILL(calls, 0)');
    },
    mistake: edit('infra/alarms.ts', "'FILL(calls, 0)'", "'calls'"),
  },
  {
    name: 'there are these alarms, and each goes off when what it sees is no accident',
    holds: (evaluated) => {
      const found = alarmsOf(evaluated).map((one) => [one.name.replace('Stepwell', ''), whenOf(one)]);
      const expected = Object.entries(PERIODS).map(([name, when]) => [
        name,
        typeof when === 'string' ? when : when[isEconomy(evaluated) ? 1 : 0],
      ]);
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    },
    mistake: edit('infra/alarms.ts', 'lasting(MINUTE, 3, 5)', '{}'),
  },
  {
    name: 'who is told that something is wrong is told when it is over',
    holds: (evaluated) => {
      for (const { inputs } of alarmsOf(evaluated))
        expect(inputs['okActions']).toEqual(inputs['alarmActions']);
    },
    mistake: edit(
      'infra/alarms.ts',
      'if (alarms === undefined) return {};',
      "if (alarms === undefined) return { alarmActions: ['arn:aws:sns:us-east-1:0:topic'] };",
    ),
  },
  {
    name: 'an alarm goes off when the API answers 5xx, which is no error of its function',
    holds: (evaluated) => {
      for (const name of ['Api', 'Stream'] as const) {
        expect(alarm(evaluated, `${name}Faults`).inputs).toMatchObject({
          namespace: 'AWS/Lambda',
          metricName: 'Url5xxCount',
          dimensions: { FunctionName: functionOf(evaluated, name).name },
          statistic: 'Sum',
          threshold: 0,
          treatMissingData: 'notBreaching',
        });
      }
    },
    mistake: edit(
      'infra/alarms.ts',
      "ofLambda('Url5xxCount', functionName)",
      "ofLambda('Errors', functionName)",
    ),
  },
  {
    name: 'an alarm goes off when messages come to the dead letters',
    holds: (evaluated) => {
      expect(alarm(evaluated, 'DeadLetters').inputs).toMatchObject({
        metricName: 'Invocations',
        dimensions: { FunctionName: functionOf(evaluated, 'DeadLetter').name },
        threshold: 0,
      });
    },
    mistake: edit(
      'infra/alarms.ts',
      "ofLambda('Invocations', lambdas.DeadLetter.name)",
      "ofLambda('Invocations', lambdas.Turn.name)",
    ),
  },
  {
    name: 'messages that stay with the dead letters count also while a poller has them',
    holds: (evaluated) => {
      const { name } = only(evaluated, QUEUE, /DeadLettersQueue$/).inputs;
      const read = (id: string, metricName: string) => ({
        id,
        metric: { metricName, dimensions: { QueueName: name }, stat: 'Maximum' },
      });
      expect(alarm(evaluated, 'DeadLettersLeft').inputs).toMatchObject({
        threshold: 0,
        comparisonOperator: 'GreaterThanThreshold',
        metricQueries: [
          { expression: 'visible + hidden', returnData: true },
          read('visible', 'ApproximateNumberOfMessagesVisible'),
          read('hidden', 'ApproximateNumberOfMessagesNotVisible'),
        ],
      });
    },
    mistake: edit('infra/alarms.ts', "'visible + hidden'", "'visible'"),
  },
  {
    name: 'an alarm goes off when a function fails',
    holds: (evaluated) => {
      for (const name of SERVING) {
        expect(alarm(evaluated, `${name}Errors`).inputs).toMatchObject({
          metricName: 'Errors',
          dimensions: { FunctionName: functionOf(evaluated, name).name },
          threshold: 0,
        });
      }
    },
    mistake: edit(
      'infra/alarms.ts',
      "ofLambda('Errors', functionName)",
      "ofLambda('Throttles', functionName)",
    ),
  },
];
