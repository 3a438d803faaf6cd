import { expect } from 'vitest';
import * as z from 'zod';
import { ALARMS } from './alarm-rules.ts';
import { DEPLOYMENT } from './deployment-rules.ts';
import type { Evaluated } from './evaluate.ts';
import { allowedTo, type FunctionName, functionOf, only, SERVING, trusted } from './resources.ts';
import { edit, type Rule } from './rule.ts';
import { SCHEDULES } from './schedule-rules.ts';
import { STAGES } from './stage-rules.ts';

const QUEUE = 'aws:sqs/queue:Queue';
const MAPPING = 'aws:lambda/eventSourceMapping:EventSourceMapping';
const isProduction = ({ app }: Evaluated): boolean => ['production', 'prod'].includes(String(app['stage']));
const turns = (evaluated: Evaluated) => only(evaluated, QUEUE, /TurnsQueue$/).inputs;

const QUEUES: readonly Rule[] = [
  {
    name: 'a message stays hidden for six times the time limit of its function',
    holds: (evaluated) => {
      const { timeout } = functionOf(evaluated, 'Turn');
      expect(turns(evaluated)['visibilityTimeoutSeconds']).toBeGreaterThanOrEqual(6 * timeout);
    },
    mistake: edit('infra/queues.ts', 'TIME_LIMIT_SECONDS * 6', 'TIME_LIMIT_SECONDS'),
  },
  {
    name: 'a message that was received five times goes to the dead letters',
    holds: (evaluated) => {
      const dead = only(evaluated, QUEUE, /DeadLettersQueue$/).name;
      const policy = z.string().parse(turns(evaluated)['redrivePolicy']);
      expect(JSON.parse(policy)).toEqual({
        deadLetterTargetArn: expect.stringMatching(`:${dead}$`),
        maxReceiveCount: 5,
      });
    },
    mistake: edit('infra/parts.ts', 'RECEIVES_MAX = 5', 'RECEIVES_MAX = 1'),
  },
  {
    name: 'dead letters are kept for fourteen days',
    holds: (evaluated) =>
      expect(only(evaluated, QUEUE, /DeadLettersQueue$/).inputs['messageRetentionSeconds']).toBe(1_209_600),
    mistake: edit('infra/queues.ts', 'messageRetentionSeconds', 'delaySeconds'),
  },
  {
    name: 'messages are encrypted at rest',
    holds: (evaluated) => {
      for (const queue of [/TurnsQueue$/, /DeadLettersQueue$/])
        expect(only(evaluated, QUEUE, queue).inputs['sqsManagedSseEnabled']).toBe(true);
    },
    mistake: edit('infra/queues.ts', 'transform: { queue: ENCRYPTED },', ''),
  },
  {
    name: 'a batch is answered message by message',
    holds: (evaluated) => {
      for (const queue of [/Turns/, /DeadLetters/]) {
        const { inputs } = only(evaluated, MAPPING, queue);
        expect(inputs['functionResponseTypes']).toEqual(['ReportBatchItemFailures']);
        expect(inputs['batchSize']).toBe(10);
      }
    },
    mistake: edit('infra/functions.ts', 'partialResponses: true', 'partialResponses: false'),
  },
  {
    name: 'no more turn functions run at once than the database bears',
    holds: (evaluated) => {
      const maximumConcurrency = isProduction(evaluated) ? 40 : 10;
      expect(only(evaluated, MAPPING, /Turns/).inputs['scalingConfig']).toEqual({ maximumConcurrency });
    },
    mistake: edit('infra/functions.ts', 'mapping.scalingConfig = { maximumConcurrency };', ''),
  },
  {
    name: 'functions that call themselves through the queue are not stopped',
    holds: (evaluated) => {
      for (const name of SERVING) {
        const { inputs } = only(
          evaluated,
          'aws:lambda/functionRecursionConfig:FunctionRecursionConfig',
          new RegExp(`${name}Loop$`),
        );
        const functionName = functionOf(evaluated, name).name;
        expect(inputs).toEqual({ functionName, recursiveLoop: 'Allow' });
      }
    },
    mistake: edit('infra/functions.ts', "recursiveLoop: 'Allow'", "recursiveLoop: 'Terminate'"),
  },
];

const FUNCTIONS: readonly Rule[] = [
  {
    name: 'functions are small ARM machines with a minute of time',
    holds: (evaluated) => {
      for (const name of SERVING) {
        const { architectures, memorySize, timeout, runtime } = functionOf(evaluated, name);
        const expected = {
          architectures: ['arm64'],
          memorySize: 512,
          timeout: name === 'Stream' ? 75 : 60,
          runtime: 'nodejs24.x',
        };
        expect({ architectures, memorySize, timeout, runtime }).toEqual(expected);
      }
    },
    mistake: edit('infra/parts.ts', "architecture: 'arm64'", "architecture: 'x86_64'"),
  },
  {
    name: 'no function takes concurrency that a new account does not have',
    holds: (evaluated) => {
      const reserved = SERVING.map((name) => functionOf(evaluated, name).reservedConcurrentExecutions);
      expect(reserved).toEqual(SERVING.map(() => undefined));
    },
    mistake: edit('infra/stage.ts', 'reserved: null', 'reserved: { api: 100, stream: 20, sweep: 2 }'),
  },
  {
    name: 'functions may send hints, write their own log, and no more',
    holds: (evaluated) => {
      const isInVpc = functionOf(evaluated, 'Api').vpcConfig !== undefined;
      const interfaces = [
        'AssignPrivateIpAddresses',
        'CreateNetworkInterface',
        'DeleteNetworkInterface',
        'DescribeNetworkInterfaces',
        'DescribeSubnets',
        'UnassignPrivateIpAddresses',
      ].map((action) => `ec2:${action} on *`);
      const base = (name: FunctionName) => [
        ...['CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action} on Stepwell${name}Log`),
        ...(isInVpc ? interfaces : []),
      ];
      const wakes =
        functionOf(evaluated, 'Api').environment.variables['STEPWELL_WAKE_GROUP'] === undefined
          ? []
          : [
              'iam:PassRole on StepwellWakeRole if iam:PassedToService is scheduler.amazonaws.com',
              'scheduler:CreateSchedule on schedule/StepwellWakes/*',
            ];
      const receive = [
        'ChangeMessageVisibility',
        'DeleteMessage',
        'GetQueueAttributes',
        'GetQueueUrl',
        'ReceiveMessage',
      ];
      const from = (queue: string) => receive.map((action) => `sqs:${action} on ${queue}`);
      const send = 'sqs:SendMessage on StepwellTurnsQueue';
      expect(allowedTo(evaluated, 'Deploy')).toEqual(base('Deploy').toSorted());
      expect(allowedTo(evaluated, 'Api')).toEqual([...base('Api'), ...wakes, send].toSorted());
      expect(allowedTo(evaluated, 'Stream')).toEqual([...base('Stream'), ...wakes, send].toSorted());
      expect(allowedTo(evaluated, 'Sweep')).toEqual([...base('Sweep'), ...wakes, send].toSorted());
      expect(allowedTo(evaluated, 'Turn')).toEqual(
        [...base('Turn'), ...wakes, ...from('StepwellTurnsQueue'), send].toSorted(),
      );
      expect(allowedTo(evaluated, 'DeadLetter')).toEqual(
        [...base('DeadLetter'), ...wakes, ...from('StepwellDeadLettersQueue'), send].toSorted(),
      );
    },
    mistake: edit(
      'infra/functions.ts',
      "actions: ['sqs:SendMessage'], resources: [queues.turns.arn]",
      "actions: ['sqs:*'], resources: ['*']",
    ),
  },
  {
    name: 'the role of a function can be taken by Lambda alone',
    holds: (evaluated) => {
      for (const name of [...SERVING, 'Deploy'] as const) {
        expect(trusted(evaluated, name)).toContain('lambda.amazonaws.com');
        expect(trusted(evaluated, name)).not.toContain('arn:aws:iam');
      }
    },
    mistake: edit('infra/parts.ts', 'if ($dev) return;', 'if (!$dev) return;'),
  },
  {
    name: 'the root key is known to the API alone, streams included, and the owner of the schema to the deployment',
    holds: (evaluated) => {
      const secrets = ['STEPWELL_API_KEY', 'STEPWELL_DATABASE_URL', 'STEPWELL_QUEUE_URL'];
      const known = ([...SERVING, 'Deploy'] as const).map((name) => {
        const { variables } = functionOf(evaluated, name).environment;
        return [name, secrets.filter((secret) => Object.hasOwn(variables, secret))];
      });
      const hidden = ['STEPWELL_DATABASE_URL', 'STEPWELL_QUEUE_URL'];
      expect(Object.fromEntries(known)).toEqual({
        Api: secrets,
        Stream: secrets,
        Turn: hidden,
        Sweep: hidden,
        DeadLetter: hidden,
        Deploy: ['STEPWELL_DATABASE_URL'],
      });
    },
    mistake: edit(
      'infra/functions.ts',
      '      STEPWELL_MIGRATED_BY',
      '      STEPWELL_API_KEY: databaseUrl, STEPWELL_MIGRATED_BY',
    ),
  },
  {
    name: 'functions that serve have a login of their own, which the deployment makes',
    holds: (evaluated) => {
      const deploy = functionOf(evaluated, 'Deploy').environment.variables;
      expect(deploy['STEPWELL_DATABASE_URL']).toMatch(/^postgres:[/][/]owner:key@/);
      expect(deploy).toMatchObject({ STEPWELL_LOGIN: 'app', STEPWELL_LOGIN_PASSWORD: 'word' });
      for (const name of SERVING) {
        const { variables } = functionOf(evaluated, name).environment;
        expect(variables['STEPWELL_DATABASE_URL']).toMatch(/^postgres:[/][/]app:word@/);
        expect(variables).not.toHaveProperty('STEPWELL_LOGIN_PASSWORD');
      }
    },
    mistake: edit(
      'infra/component.ts',
      '    ownerUrl: new sst.Secret(`${name}DatabaseOwnerUrl`).value,\n',
      '',
    ),
  },
  {
    name: 'what functions are told stands in the state encrypted only',
    holds: (evaluated) => {
      for (const name of [...SERVING, 'Deploy'] as const)
        expect(functionOf(evaluated, name).secrets).toEqual(['environment']);
    },
    mistake: edit('infra/parts.ts', ', function: asSecret', ''),
  },
  {
    name: 'a function writes into the log that its role lets it write, and has no rights but those that stand in its role',
    holds: (evaluated) => {
      for (const name of [...SERVING, 'Deploy'] as const) {
        expect(functionOf(evaluated, name).loggingConfig.logGroup).toBe(`Stepwell${name}Log`);
        expect(allowedTo(evaluated, name).filter((right) => !right.includes(':'))).toEqual([]);
      }
    },
    mistake: edit('infra/parts.ts', 'role.managedPolicyArns = [];', ''),
  },
  {
    name: 'logs are kept as long as the stage says',
    holds: (evaluated) => {
      const expected = isProduction(evaluated) ? 90 : 7;
      const groups = evaluated.resources.filter(({ type }) => type === 'aws:cloudwatch/logGroup:LogGroup');
      expect(groups.map(({ inputs }) => inputs['retentionInDays'])).toEqual(
        Array.from({ length: SERVING.length + 1 }, () => expected),
      );
    },
    mistake: edit('infra/logs.ts', 'retentionInDays: DAYS[stage.logRetention],', ''),
  },
];

export const RULES: readonly Rule[] = [
  ...QUEUES,
  ...FUNCTIONS,
  ...DEPLOYMENT,
  ...SCHEDULES,
  ...ALARMS,
  ...STAGES,
];
