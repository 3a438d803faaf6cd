import { expect } from 'vitest';
import type { Evaluated } from './evaluate.ts';
import { functionOf, only, SERVING } from './resources.ts';
import { edit, type Rule } from './rule.ts';

const QUEUE = 'aws:sqs/queue:Queue';
const ALARM = 'aws:cloudwatch/metricAlarm:MetricAlarm';

/** The alarm reads what a function writes to its log under this name. */
function readsLog(evaluated: Evaluated, alarm: RegExp, field: string, functionName: RegExp): void {
  const { inputs } = only(evaluated, ALARM, alarm);
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
    name: 'an alarm goes off when runs are late, in economy mode at the first look that says so',
    holds: (evaluated) => {
      const isEconomy = evaluated.resources.some(({ type }) => type.endsWith(':ScheduleGroup'));
      expect(only(evaluated, ALARM, /OldestDue$/).inputs).toMatchObject({
        threshold: 300_000,
        comparisonOperator: 'GreaterThanThreshold',
        statistic: 'Maximum',
        evaluationPeriods: isEconomy ? 1 : 2,
      });
      readsLog(evaluated, /OldestDue$/, 'oldest_due_ms', /Sweep/);
    },
    mistake: edit('infra/alarms.ts', 'value: `$.${field}`', "value: '1'"),
  },
  {
    name: 'an alarm goes off when messages come back, before they are given up',
    holds: (evaluated) => {
      const { inputs } = only(evaluated, ALARM, /MessagesReturn$/);
      expect(inputs).toMatchObject({
        threshold: 3,
        comparisonOperator: 'GreaterThanOrEqualToThreshold',
        statistic: 'Maximum',
      });
      readsLog(evaluated, /MessagesReturn$/, 'receive_count', /TurnsSubscriber/);
    },
    mistake: edit('infra/alarms.ts', 'const RETURNS = 3', 'const RETURNS = 6'),
  },
  {
    name: 'an alarm goes off when messages are not received, later than any delay',
    holds: (evaluated) => {
      const { name } = only(evaluated, QUEUE, /TurnsQueue$/).inputs;
      expect(only(evaluated, ALARM, /OldestMessage$/).inputs).toMatchObject({
        metricName: 'ApproximateAgeOfOldestMessage',
        dimensions: { QueueName: name },
        statistic: 'Maximum',
        threshold: 1800,
      });
    },
    mistake: edit('infra/alarms.ts', '30 * 60', '10 * 60'),
  },
  {
    name: 'an alarm goes off when there is no room for a function; for turns when that lasts',
    holds: (evaluated) => {
      for (const name of ['Api', 'Stream', 'Turn', 'Sweep'] as const) {
        expect(only(evaluated, ALARM, new RegExp(`${name}Throttles$`)).inputs).toMatchObject({
          metricName: 'Throttles',
          dimensions: { FunctionName: functionOf(evaluated, name).name },
          threshold: 0,
          evaluationPeriods: name === 'Turn' ? 3 : 1,
        });
      }
    },
    mistake: edit('infra/alarms.ts', "['Api', 'Stream', 'Turn', 'Sweep']", "['Api']"),
  },
  {
    name: 'an alarm goes off when the sweep does not come',
    holds: (evaluated) =>
      expect(only(evaluated, ALARM, /SweepMissing$/).inputs).toMatchObject({
        metricName: 'Invocations',
        dimensions: { FunctionName: functionOf(evaluated, 'Sweep').name },
        comparisonOperator: 'LessThanThreshold',
        threshold: 1,
        treatMissingData: 'breaching',
      }),
    mistake: edit('infra/alarms.ts', "treatMissingData: 'breaching'", "treatMissingData: 'notBreaching'"),
  },
  {
    name: 'alarms go off when messages come to the dead letters, and when they stay there',
    holds: (evaluated) => {
      expect(only(evaluated, ALARM, /DeadLetters$/).inputs).toMatchObject({
        metricName: 'Invocations',
        dimensions: { FunctionName: functionOf(evaluated, 'DeadLetter').name },
        threshold: 0,
      });
      const { name } = only(evaluated, QUEUE, /DeadLettersQueue$/).inputs;
      expect(only(evaluated, ALARM, /DeadLettersLeft$/).inputs).toMatchObject({
        metricName: 'ApproximateNumberOfMessagesVisible',
        dimensions: { QueueName: name },
      });
    },
    mistake: edit(
      'infra/alarms.ts',
      "ofLambda('Invocations', lambdas.DeadLetter.name)",
      "ofLambda('Invocations', lambdas.Turn.name)",
    ),
  },
  {
    name: 'an alarm goes off when a function fails',
    holds: (evaluated) => {
      for (const name of SERVING) {
        expect(only(evaluated, ALARM, new RegExp(`${name}Errors$`)).inputs).toMatchObject({
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

export const STAGES: readonly Rule[] = [
  {
    name: 'production is protected, other stages can be removed',
    holds: ({ app, outputs }) => {
      const isProduction = app['stage'] === 'production';
      expect(app).toMatchObject({ protect: isProduction, removal: isProduction ? 'retain' : 'remove' });
      expect(outputs['_protect']).toBe(isProduction);
    },
    mistake: edit('infra/stage.ts', 'isProtected: true', 'isProtected: false'),
  },
  {
    name: 'the API is open to the internet, unauthenticated by AWS and without a second layer of CORS',
    holds: (evaluated) => {
      for (const [name, invokeMode] of [
        ['Api', 'BUFFERED'],
        ['Stream', 'RESPONSE_STREAM'],
      ] as const) {
        const url = only(evaluated, 'aws:lambda/functionUrl:FunctionUrl', new RegExp(`${name}Url$`));
        const functionName = functionOf(evaluated, name).name;
        expect(url.inputs).toEqual({ authorizationType: 'NONE', functionName, invokeMode });
      }
    },
    mistake: edit('infra/functions.ts', 'url: { cors: false }', 'url: true'),
  },
];
