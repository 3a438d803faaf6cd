import { expect } from 'vitest';
import { functionOf, only } from './resources.ts';
import { edit, type Rule } from './rule.ts';

/** Stages with the settings of production. */
const PRODUCTION = ['production', 'prod'];

export const STAGES: readonly Rule[] = [
  {
    name: 'production is protected, other stages can be removed',
    holds: ({ app, outputs }) => {
      const isProduction = PRODUCTION.includes(String(app['stage']));
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
  {
    name: 'Lambda lets the callers of a function URL in, by both of the permissions that it asks for, and by the URL only',
    holds: (evaluated) => {
      for (const name of ['Api', 'Stream'] as const) {
        const functionName = functionOf(evaluated, name).name;
        const granted = evaluated.resources.filter(
          ({ type, inputs }) =>
            type === 'aws:lambda/permission:Permission' && inputs['function'] === functionName,
        );
        const inputs = granted.map((one) => one.inputs);
        expect(inputs).toHaveLength(2);
        expect(inputs).toContainEqual({
          action: 'lambda:InvokeFunctionUrl',
          function: functionName,
          functionUrlAuthType: 'NONE',
          principal: '*',
        });
        expect(inputs).toContainEqual({
          action: 'lambda:InvokeFunction',
          function: functionName,
          invokedViaFunctionUrl: true,
          principal: '*',
        });
      }
    },
    mistake: edit('infra/functions.ts', 'url: { cors: false }', "url: { cors: false, authorization: 'iam' }"),
  },
];
