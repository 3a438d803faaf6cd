import { describe, expect, it } from 'vitest';
import { createDeployHandler } from '../../functions/aws/deploy.ts';

/** Nobody listens there. */
const NOWHERE = { STEPWELL_DATABASE_URL: 'postgres://owner@127.0.0.1:1/none' };
const draft = (name: string, blocks: readonly object[]) => ({ name, blocks });
const good = () => draft('good', [{ type: 'step', id: 'a', handler: 'noop' }]);

function deployOf(...drafts: readonly object[]) {
  const project = { sequenceFiles: Object.fromEntries(drafts.map((one, index) => [`${index}.json`, one])) };
  return createDeployHandler(project, { environment: NOWHERE, writeLog: () => undefined });
}

describe('a deployment', () => {
  it.each(['migrate', 'publish'] as const)(
    'whose sequence breaks a rule fails at %s before it asks the database',
    async (action) => {
      const broken = draft('broken', [{ type: 'step', id: 'a' }]);
      await expect(deployOf(good(), broken)({ action })).rejects.toThrow(
        /sequences were not published: broken: .*handler/,
      );
    },
  );

  it('that brings two sequences of one name fails before it asks the database', async () => {
    const other = draft('good', [{ type: 'step', id: 'a', handler: 'log' }]);
    await expect(deployOf(good(), other)({ action: 'migrate' })).rejects.toThrow(
      'good: the deployment brings another one of this name',
    );
  });
});
