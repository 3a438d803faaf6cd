import { expect } from 'vitest';
import { functionOf, only, SERVING } from './resources.ts';
import { edit, type Rule } from './rule.ts';

const QUEUE = 'aws:sqs/queue:Queue';
const ALARM = 'aws:cloudwatch/metricAlarm:MetricAlarm';

export const ALARMS: readonly Rule[] = [
  {
    name: 'an alarm goes off when runs are late',
    holds: (evaluated) => {
      const { inputs } = only(evaluated, ALARM, /OldestDue$/);
      const filter = only(evaluated, 'aws:cloudwatch/logMetricFilter:LogMetricFilter').inputs;
      expect(inputs).toMatchObject({ threshold: 300_000, comparisonOperator: 'GreaterThanThreshold' });
      expect(filter).toMatchObject({
        logGroupName: expect.stringContaining('Sweep'),
        metricTransformation: {
          name: inputs['metricName'],
          namespace: inputs['namespace'],
          value: '$.oldest_due_ms',
        },
      });
    },
    mistake: edit('infra/alarms.ts', "value: '$.oldest_due_ms'", "value: '1'"),
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
      "ofLambda('Invocations', named.DeadLetter.name)",
      "ofLambda('Invocations', named.Turn.name)",
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
