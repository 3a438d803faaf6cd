import { describe, expect, it } from 'vitest';
import { createDeployHandler } from '../../functions/aws/deploy.ts';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { nextId } from '../support/turn-builder.ts';
import { createDatabase } from './support/deployment.ts';

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

it('the migrations of a deployment make the login of the functions, and nobody is shown its password', async () => {
  const owner = await createDatabase();
  const login = `functions_${nextId()}`;
  const password = `word/${nextId()}`;
  const lines: string[] = [];
  const environment = {
    STEPWELL_DATABASE_URL: owner,
    STEPWELL_LOGIN: login,
    STEPWELL_LOGIN_PASSWORD: password,
  };
  const handle = createDeployHandler(
    { sequenceFiles: {} },
    { environment, writeLog: (line) => lines.push(line) },
  );
  await handle({ action: 'migrate' });
  await handle({ action: 'migrate' });
  const admissions = lines.map((line) => /"admission":"(\w+)"/.exec(line)?.[1]).filter(Boolean);
  expect(admissions).toEqual(['created', 'known']);
  expect(lines.join()).not.toContain(password);
  const url = new URL(owner);
  url.username = login;
  url.password = encodeURIComponent(password);
  const driver = createPgDriver({ connectionString: url.href, poolSize: 1 });
  await expect(createPostgresStore(driver).lookForWork({})).resolves.toBeDefined();
  const mine = await driver.query(
    'SELECT rolname FROM pg_roles WHERE rolname = current_user AND NOT rolsuper',
    [],
  );
  expect(mine).toEqual([[login]]);
  await driver.close();
});
