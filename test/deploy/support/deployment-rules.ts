import { expect } from 'vitest';
import * as z from 'zod';
import type { Evaluated, Resource } from './evaluate.ts';
import { functionOf, only, SERVING } from './resources.ts';
import { edit, type Rule } from './rule.ts';

type Call = 'Migration' | 'Check' | 'Publishing';

const call = (evaluated: Evaluated, name: Call): Resource =>
  only(evaluated, 'aws:lambda/invocation:Invocation', new RegExp(`${name}$`));

const Triggers = z.object({ code: z.string(), settings: z.string() });

/** What has a deployment call its function again. */
export function triggersOf(evaluated: Evaluated, name: Call): z.infer<typeof Triggers> {
  return Triggers.parse(call(evaluated, name).inputs['triggers']);
}

/** What a deployment does once. */
export const DEPLOYMENT: readonly Rule[] = [
  {
    name: 'migrations are run once, before any function that serves is changed',
    holds: (evaluated) => {
      const migration = call(evaluated, 'Migration');
      expect(migration.inputs['input']).toBe('{"action":"migrate"}');
      const { code } = triggersOf(evaluated, 'Migration');
      for (const name of SERVING) {
        const { order, environment } = functionOf(evaluated, name);
        expect(environment.variables['STEPWELL_MIGRATED_BY']).toBe(code);
        expect(order).toBeGreaterThan(evaluated.resources.indexOf(migration));
      }
    },
    mistake: edit('infra/functions.ts', '      STEPWELL_MIGRATED_BY: afterwards,\n', ''),
  },
  {
    name: 'new code shows in the sweep that it works, before the other functions are changed',
    holds: (evaluated) => {
      const check = call(evaluated, 'Check');
      const sweep = functionOf(evaluated, 'Sweep');
      expect(check.inputs).toMatchObject({ functionName: sweep.name, input: '{"action":"check"}' });
      const order = evaluated.resources.indexOf(check);
      expect(order).toBeGreaterThan(sweep.order);
      for (const name of SERVING.filter((one) => one !== 'Sweep'))
        expect(functionOf(evaluated, name).order).toBeGreaterThan(order);
    },
    mistake: edit('infra/deployment.ts', '[migrated, check.result]', '[migrated]'),
  },
  {
    name: 'each is called where it is done',
    holds: (evaluated) => {
      const deploy = functionOf(evaluated, 'Deploy').name;
      const called = (['Migration', 'Check', 'Publishing'] as const).map(
        (name) => call(evaluated, name).inputs['functionName'],
      );
      expect(called).toEqual([deploy, functionOf(evaluated, 'Sweep').name, deploy]);
    },
    mistake: edit(
      'infra/deployment.ts',
      '          functionName,\n',
      "          functionName: 'StepwellDeploy',\n",
    ),
  },
  {
    name: 'each is done again after a change of its own code',
    holds: (evaluated) => {
      const codes = (['Migration', 'Check', 'Publishing'] as const).map(
        (name) => triggersOf(evaluated, name).code,
      );
      const deploy = functionOf(evaluated, 'Deploy').s3Key;
      const sweep = functionOf(evaluated, 'Sweep').s3Key;
      expect(codes).toEqual([deploy, sweep, deploy]);
      expect(sweep).not.toBe(deploy);
    },
    mistake: edit('infra/deployment.ts', 'code: codeOf(lambda)', 'code: codeOf(deploy)'),
  },
  {
    name: 'a migration has a quarter of an hour',
    holds: (evaluated) => expect(functionOf(evaluated, 'Deploy').timeout).toBe(900),
    mistake: edit('infra/deployment.ts', '      timeout: TIME_LIMIT,\n', ''),
  },
  {
    name: 'sequences are published once all functions are there',
    holds: (evaluated) => {
      const publishing = call(evaluated, 'Publishing');
      expect(publishing.inputs['input']).toBe('{"action":"publish"}');
      const functions = SERVING.map((name) => functionOf(evaluated, name).order);
      expect(evaluated.resources.indexOf(publishing)).toBeGreaterThan(Math.max(...functions));
    },
    mistake: edit('infra/deployment.ts', '$util.all([...functionNames])', '$util.all([])'),
  },
  {
    name: 'both are done again when what they are told has changed, which the state does not show',
    holds: (evaluated) => {
      for (const name of ['Migration', 'Check', 'Publishing'] as const) {
        const { settings } = triggersOf(evaluated, name);
        expect(settings).toMatch(/^[0-9a-f]{64}$/);
        expect(call(evaluated, name).secrets).toContain('triggers');
      }
      expect(triggersOf(evaluated, 'Migration')).toEqual(triggersOf(evaluated, 'Publishing'));
    },
    mistake: edit('infra/deployment.ts', '$util.secret(digest)', '$util.unsecret(digest)'),
  },
  {
    name: 'what the check depends on is no more shown by the state',
    holds: (evaluated) => expect(call(evaluated, 'Check').secrets).toContain('triggers'),
    mistake: edit(
      'infra/deployment.ts',
      'settings: $util.secret(digestOfFunction(lambda, settings))',
      'settings: $util.unsecret(digestOfFunction(lambda, settings))',
    ),
  },
  {
    name: 'what has failed is done again, also by a deployment of what was there before',
    holds: (evaluated) => {
      for (const name of ['Migration', 'Check', 'Publishing'] as const)
        expect(call(evaluated, name).deleteBeforeReplace).toBe(true);
    },
    mistake: edit('infra/deployment.ts', 'deleteBeforeReplace: true', 'deleteBeforeReplace: false'),
  },
];
