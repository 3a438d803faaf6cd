import { expect } from 'vitest';
import * as z from 'zod';
import { isEconomy, only } from './resources.ts';
import { edit, type Rule } from './rule.ts';

const INVOKE_CONFIG = 'aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig';
const GROUP = 'arn:aws:scheduler:us-east-1:000000000000:schedule-group';

/** The sweep and what calls it. */
export const SCHEDULES: readonly Rule[] = [
  {
    name: 'the sweep comes each minute, or every six hours where wakes bring it',
    holds: (evaluated) => {
      const { inputs } = only(evaluated, 'aws:scheduler/schedule:Schedule');
      expect(inputs['scheduleExpression']).toBe(
        isEconomy(evaluated) ? 'rate(360 minutes)' : 'rate(1 minute)',
      );
      expect(inputs['target']).toMatchObject({ arn: expect.stringMatching(/SweepFunction$/) });
    },
    mistake: edit('infra/sweep.ts', ': 1);', ': 5);'),
  },
  {
    name: 'a tick that failed is repeated while it is young, in economy mode for an hour: no other comes soon',
    holds: (evaluated) => {
      const [tries, failures, age] = isEconomy(evaluated) ? [2, 2, 3600] : [1, 0, 60];
      expect(only(evaluated, 'aws:scheduler/schedule:Schedule').inputs['target']).toMatchObject({
        retryPolicy: { maximumRetryAttempts: tries, maximumEventAgeInSeconds: age },
      });
      expect(only(evaluated, INVOKE_CONFIG).inputs).toMatchObject({
        maximumRetryAttempts: failures,
        maximumEventAgeInSeconds: age,
      });
    },
    mistake: edit('infra/sweep.ts', 'ageSeconds: 60', 'ageSeconds: 86_400'),
  },
  {
    name: 'only schedules of this account, and of their own group, take the roles that call the sweep',
    holds: (evaluated) => {
      const roles = evaluated.resources.filter(
        ({ type, inputs }) =>
          type === 'aws:iam/role:Role' &&
          JSON.stringify(inputs['assumeRolePolicy']).includes('scheduler.amazonaws.com'),
      );
      const trusts = roles.map(({ name, inputs }) => {
        const policy = JSON.parse(z.string().parse(inputs['assumeRolePolicy']));
        return [name, Trust.parse(policy).Statement[0].Condition.StringEquals];
      });
      const of = (group: string) => ({
        'aws:SourceAccount': '000000000000',
        'aws:SourceArn': `${GROUP}/${group}`,
      });
      const wakes = isEconomy(evaluated) ? { StepwellWakeRole: of('StepwellWakes') } : {};
      expect(Object.fromEntries(trusts)).toEqual({ StepwellTickRole: of('default'), ...wakes });
    },
    mistake: edit('infra/trust.ts', 'Condition: { StringEquals: from },', ''),
  },
];

const Trust = z.object({
  Statement: z.tuple([z.object({ Condition: z.object({ StringEquals: z.record(z.string(), z.string()) }) })]),
});
