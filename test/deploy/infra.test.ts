import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Evaluated, evaluate } from './support/evaluate.ts';
import { functionOf, only } from './support/resources.ts';
import { RULES } from './support/rules.ts';

const SECRETS = { StepwellDatabaseUrl: 'postgres://app@db.example.com/app', StepwellApiKey: 'root-key' };
const ECONOMY = {
  file: 'sst.config.ts',
  find: "new Stepwell('Stepwell', {",
  replace: "new Stepwell('Stepwell', { mode: 'economy', alarms: { email: 'a@example.com' },",
};
const STAGES = ['test', 'production', 'economy'] as const;

let stages: Readonly<Record<(typeof STAGES)[number], Evaluated>>;
let mistaken: readonly Evaluated[];

beforeAll(async () => {
  const [test, production, economy, ...planted] = await evaluate({
    secrets: SECRETS,
    variants: [
      { stage: 'test' },
      { stage: 'production' },
      { stage: 'economy', edits: [ECONOMY] },
      ...RULES.map(({ mistake }) => ({ stage: 'production', edits: [mistake] })),
    ],
  });
  if (test === undefined || production === undefined || economy === undefined) throw new Error('no answer');
  stages = { test, production, economy };
  mistaken = planted;
});

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
    const alarms = stages.economy.resources.filter(({ type }) => type.endsWith(':MetricAlarm'));
    expect(alarms).toHaveLength(9);
    expect(
      new Set(alarms.flatMap(({ inputs }) => z.array(z.string()).parse(inputs['alarmActions']))),
    ).toEqual(new Set([topic['topic']]));
  });
});
