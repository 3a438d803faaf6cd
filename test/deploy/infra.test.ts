import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DEFAULTS } from '../../src/cli/cost/assumptions.ts';
import { type Evaluated, evaluate } from './support/evaluate.ts';
import { alarmsOf, metricsOf } from './support/alarm-rules.ts';
import { triggersOf } from './support/deployment-rules.ts';
import { allowedTo, functionOf, only, SERVING } from './support/resources.ts';
import { RULES } from './support/rules.ts';

const SECRETS = {
  StepwellDatabaseUrl: 'postgres://app:word@ep-1-pooler.eu.aws.neon.tech/app',
  StepwellDatabaseOwnerUrl: 'postgres://owner:key@ep-1-pooler.eu.aws.neon.tech/app',
  StepwellApiKey: 'root-key',
};
const ECONOMY = {
  file: 'sst.config.ts',
  find: "new Stepwell('Stepwell', {",
  replace: "new Stepwell('Stepwell', { mode: 'economy', alarms: { email: 'a@example.com' },",
};
const IN_VPC = {
  file: 'sst.config.ts',
  find: "new Stepwell('Stepwell', {",
  replace: "new Stepwell('Stepwell', { vpc: { privateSubnets: ['subnet-1'], securityGroups: ['sg-1'] },",
};
const STAGES = ['test', 'production', 'prod', 'economy', 'vpc'] as const;

/** Arguments of other installations, by what is other than in the one of production. */
const { StepwellDatabaseUrl: FIRST_URL } = SECRETS;
const OTHER_URL = 'postgres://app:other@db.example.com/app';
const linked = (url: string) =>
  `link: [new sst.Linkable('Payments', {
    properties: { url: $util.output('${url}') },
    include: [sst.aws.permission({ actions: ['sns:Publish'], resources: ['arn:aws:sns:us-east-1:0:topic'] })],
  })]`;
const CHANGES = {
  'a variable': "environment: { GREETING: 'one' }",
  'the value of a variable':
    "environment: { GREETING: 'two', STEPWELL_INVOCATION_SECS: '300', STEPWELL_API_KEY: 'mine' }",
  'the tenant': "tenant: 'other'",
  'a linked resource': linked('https://one.example.com'),
  'what a linked resource says': linked('https://two.example.com'),
  'the owner': `database: { url: '${FIRST_URL}', ownerUrl: '${OTHER_URL}' }`,
  'the database': `database: { url: '${OTHER_URL}', ownerUrl: '${FIRST_URL}' }`,
  'the size': `database: { url: '${OTHER_URL}' }, stage: { turnFunctionsMax: 60, reserved: { api: 100, stream: 20, sweep: 2 } }`,
  'the bound': `database: { url: '${OTHER_URL}', maxConnections: 50 }, stage: { reserved: { api: 20, stream: 5, sweep: 2 } }`,
  'the driver': `database: { url: '${OTHER_URL}', driver: 'neon' }`,
  'the mode': "mode: 'economy'",
  'the network': "vpc: { privateSubnets: ['subnet-1'], securityGroups: ['sg-1'] }",
  'the key of credentials': `encryptionKey: '${'ab'.repeat(32)}'`,
  'what handlers may do': "permissions: [{ actions: ['sns:Publish'], resources: ['*'] }]",
} as const;
type Change = keyof typeof CHANGES;
const CHANGE_NAMES = Object.keys(CHANGES);
const withArguments = (text: string) => ({
  file: 'sst.config.ts',
  find: "new Stepwell('Stepwell', {",
  replace: `new Stepwell('Stepwell', { ${text},`,
});

let stages: Readonly<Record<(typeof STAGES)[number], Evaluated>>;
let changed: ReadonlyMap<string, Evaluated>;
let mistaken: readonly Evaluated[];

beforeAll(async () => {
  const [test, production, prod, economy, vpc, ...others] = await evaluate({
    secrets: SECRETS,
    variants: [
      { stage: 'test' },
      { stage: 'production' },
      { stage: 'prod' },
      { stage: 'economy', edits: [ECONOMY] },
      { stage: 'vpc', edits: [IN_VPC] },
      ...Object.values(CHANGES).map((text) => ({ stage: 'production', edits: [withArguments(text)] })),
      ...RULES.map(({ mistake }) => ({ stage: 'production', edits: [mistake] })),
    ],
  });
  if (test === undefined || production === undefined || prod === undefined) throw new Error('no answer');
  if (economy === undefined || vpc === undefined) throw new Error('no answer');
  stages = { test, production, prod, economy, vpc };
  changed = new Map(CHANGE_NAMES.flatMap((name, index) => pair(name, others[index])));
  mistaken = others.slice(CHANGE_NAMES.length);
});

function pair(name: string, evaluated: Evaluated | undefined): readonly (readonly [string, Evaluated])[] {
  return evaluated === undefined ? [] : [[name, evaluated]];
}

function after(change: Change): Evaluated {
  const evaluated = changed.get(change);
  if (evaluated === undefined) throw new Error(`${change} was not evaluated`);
  return evaluated;
}

describe.each(STAGES)('stage %s of our own deployment', (stage) => {
  it.each(RULES.map(({ name, holds }) => [name, holds] as const))('%s', (_, holds) => {
    holds(stages[stage]);
  });
});

describe('a planted mistake', () => {
  it.each(RULES.map(({ name, holds }, index) => [name, holds, index] as const))(
    'shows where it must hold that %s',
    (_, holds, index) => {
      const evaluated = mistaken[index];
      if (evaluated === undefined) throw new Error('it was not evaluated');
      expect(() => holds(evaluated)).toThrow(/expected|fit/);
    },
  );
});

describe('migrations and publishing', () => {
  it('are done again after each change of what they are told, and only then', () => {
    const told = ['a variable', 'the value of a variable', 'the tenant', 'a linked resource'] as const;
    const others = ['what a linked resource says', 'the owner', 'the database'] as const;
    const digests = [stages.production, ...[...told, ...others].map(after)].map(
      (evaluated) => triggersOf(evaluated, 'Migration').settings,
    );
    expect(new Set(digests).size).toBe(digests.length);
    expect(triggersOf(stages.test, 'Migration')).toEqual(triggersOf(stages.production, 'Migration'));
  });
});

describe('the check of new code', () => {
  it('is made again after each change that could keep a function from working, which migrations are not', () => {
    const ofFunctions = [
      'the mode',
      'the network',
      'the key of credentials',
      'what handlers may do',
    ] as const;
    const settings = (name: 'Check' | 'Migration') =>
      [stages.production, ...ofFunctions.map(after)].map((evaluated) => triggersOf(evaluated, name).settings);
    expect(new Set(settings('Check')).size).toBe(ofFunctions.length + 1);
    expect(new Set(settings('Migration')).size).toBe(1);
    const driver = [after('the driver'), after('the database')].map(
      (evaluated) => triggersOf(evaluated, 'Check').settings,
    );
    expect(new Set(driver).size).toBe(2);
  });

  it('is made again after each change of what all functions are told', () => {
    const told = [
      'a variable',
      'the value of a variable',
      'what a linked resource says',
      'the owner',
    ] as const;
    const digests = [stages.production, ...told.map(after)].map(
      (evaluated) => triggersOf(evaluated, 'Check').settings,
    );
    expect(new Set(digests).size).toBe(told.length + 1);
  });
});

describe('functions in a network of their own', () => {
  it('are all in it', () => {
    for (const name of [...SERVING, 'Deploy'] as const) {
      const { vpcConfig } = functionOf(stages.vpc, name);
      expect(vpcConfig).toEqual({ subnetIds: ['subnet-1'], securityGroupIds: ['sg-1'] });
      expect(functionOf(stages.production, name).vpcConfig).toBeUndefined();
    }
  });
});

describe('variables of the user', () => {
  it('are told to all functions, and change nothing that the component sets', () => {
    for (const name of [...SERVING, 'Deploy'] as const) {
      const { variables } = functionOf(after('the value of a variable'), name).environment;
      expect(variables['GREETING']).toBe('two');
    }
    for (const name of SERVING) {
      const { environment, timeout } = functionOf(after('the value of a variable'), name);
      expect(environment.variables['STEPWELL_INVOCATION_SECS']).toBe(String(timeout));
    }
    const api = functionOf(after('the value of a variable'), 'Api').environment.variables;
    expect(api['STEPWELL_API_KEY']).toBe('root-key');
  });
});

describe('the login of the functions', () => {
  it('is let in by the migrations where it is not that of the owner', () => {
    const login = (evaluated: Evaluated) =>
      functionOf(evaluated, 'Deploy').environment.variables['STEPWELL_LOGIN'];
    expect(login(after('the owner'))).toBe('app');
    expect(login(after('the bound'))).toBeUndefined();
  });
});

describe('advice', () => {
  it('says what production lacks, and nothing to other stages', () => {
    const { advice } = stages.production.outputs;
    expect(advice).toContain('the concurrency of the account');
    expect(advice).toContain('nobody is told by the alarms');
    expect(advice).not.toContain('owner of the schema');
    expect(after('the bound').outputs['advice']).toContain('owner of the schema');
    expect(after('the bound').outputs['advice']).not.toContain('concurrency');
    expect(stages.test.outputs['advice']).toBe('none');
  });
});

describe('an environment that AWS would refuse', () => {
  it('is refused before anything is deployed', async () => {
    const edits = [withArguments("environment: { LONG: 'x'.repeat(4000) }")];
    const refused = evaluate({ secrets: SECRETS, variants: [{ stage: 'test', edits }] });
    await expect(refused).rejects.toThrow(/AWS takes 4 KB.*LONG [(]4004[)]/);
  });
});

describe('resources that the user links', () => {
  it('are linked to every function that imports the modules of the user', () => {
    for (const name of [...SERVING, 'Deploy'] as const) {
      expect(allowedTo(after('a linked resource'), name)).toContain('sns:Publish on topic');
      expect(allowedTo(stages.production, name)).not.toContain('sns:Publish on topic');
    }
  });
});

describe('concurrency', () => {
  it('is set aside for the API, its streams and the sweep where the user says so', () => {
    const reserved = SERVING.map((name) => functionOf(after('the size'), name).reservedConcurrentExecutions);
    expect(reserved).toEqual([100, 20, undefined, 2, undefined]);
  });
});

describe('turn functions at once', () => {
  it('are half as many where each holds a connection to the database, unless the user says how many', () => {
    const most = (evaluated: Evaluated) =>
      only(evaluated, 'aws:lambda/eventSourceMapping:EventSourceMapping', /Turns/).inputs['scalingConfig'];
    expect(most(stages.production)).toEqual({ maximumConcurrency: 40 });
    expect(most(after('the database'))).toEqual({ maximumConcurrency: 20 });
    expect(most(after('the driver'))).toEqual({ maximumConcurrency: 40 });
    // What is counted is what runs: 20, not the 40 of the stage.
    expect(most(after('the bound'))).toEqual({ maximumConcurrency: 20 });
    expect(most(after('the size'))).toEqual({ maximumConcurrency: 60 });
  });
});

describe('economy mode', () => {
  it('lets the one-off schedules call the sweep, and nothing else', () => {
    const { inputs } = only(stages.economy, 'aws:iam/rolePolicy:RolePolicy');
    expect(JSON.parse(z.string().parse(inputs['policy']))).toMatchObject({
      Statement: [
        {
          Effect: 'Allow',
          Action: 'lambda:InvokeFunction',
          Resource: expect.stringMatching(/SweepFunction$/),
        },
      ],
    });
  });

  it('tells every function but the sweep itself what a wake calls', () => {
    const target = (name: 'Api' | 'Turn' | 'Sweep') =>
      functionOf(stages.economy, name).environment.variables['STEPWELL_WAKE_TARGET_ARN'];
    expect(target('Api')).toMatch(/SweepFunction$/);
    expect(target('Turn')).toMatch(/SweepFunction$/);
    expect(target('Sweep')).toBeUndefined();
  });

  it('and alarms are told to a person', () => {
    const topic = only(stages.economy, 'aws:sns/topicSubscription:TopicSubscription').inputs;
    expect(topic).toMatchObject({ protocol: 'email', endpoint: 'a@example.com' });
    const alarms = alarmsOf(stages.economy);
    // `stepwell cost` bills them by the metric that they read, and the metrics that are read from logs.
    expect(alarms.flatMap(metricsOf)).toHaveLength(DEFAULTS.alarms);
    const metrics = stages.economy.resources.filter(({ type }) => type.endsWith(':LogMetricFilter'));
    expect(metrics).toHaveLength(DEFAULTS.metrics);
    expect(
      new Set(alarms.flatMap(({ inputs }) => z.array(z.string()).parse(inputs['alarmActions']))),
    ).toEqual(new Set([topic['topic']]));
  });
});
