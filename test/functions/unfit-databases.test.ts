import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createApiHandler } from '../../functions/aws/api.ts';
import { createAwsHost } from '../../functions/aws/compose.ts';
import { createDeployHandler } from '../../functions/aws/deploy.ts';
import { createSweepHandler } from '../../functions/aws/sweep.ts';
import { createTurnHandler } from '../../functions/aws/turn.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { nextId } from '../support/turn-builder.ts';
import { startWireTap, type WireTap } from '../support/wire-tap.ts';
import { createDatabase, TENANT } from './support/deployment.ts';
import { httpEvent, lambdaContext } from './support/lambda-events.ts';

const PASSWORD = 'p4ssw%2Frd-of-tests';
const STRANGER = `stranger_${nextId().replaceAll('-', '')}`;

let sqs: SqsServer;
let neon: NeonLocal;
let tap: WireTap;
let emptyUrl: string;
let oldUrl: string;
let migratedUrl: string;
const closing: (() => Promise<void>)[] = [];

const withPassword = (url: string): string => url.replace(/\/\/postgres:[^@]*@/, `//postgres:${PASSWORD}@`);

async function onDatabase(url: string, ...texts: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const text of texts) await client.query(text);
  await client.end();
}

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  emptyUrl = withPassword((await createTestDatabase()).url);
  oldUrl = withPassword(await createDatabase());
  migratedUrl = withPassword(await createDatabase());
  await onDatabase(
    oldUrl,
    'DELETE FROM stepwell.schema_migrations WHERE version > 1',
    'ALTER FUNCTION stepwell.claim_one_v1 RENAME TO claim_one_v0',
    'ALTER FUNCTION stepwell.claim_due_v1 RENAME TO claim_due_v0',
    'ALTER FUNCTION stepwell.claim_expired_v1 RENAME TO claim_expired_v0',
    'ALTER FUNCTION stepwell.look_for_work_v1 RENAME TO look_for_work_v0',
    'ALTER TABLE stepwell.sequences RENAME COLUMN namespace TO space',
  );
  await onDatabase(migratedUrl, `CREATE ROLE ${STRANGER} LOGIN`);
  tap = await startWireTap(migratedUrl);
  tap.refuseStartup(
    ({ user }) => user === 'postgres',
    '28P01',
    'password authentication failed for user "postgres"',
  );
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  await onDatabase(migratedUrl, `DROP ROLE ${STRANGER}`);
  await tap.close();
  await neon.close();
  await sqs.stop();
});

async function install(url: string, driver: 'pg' | 'neon') {
  const log: string[] = [];
  const { url: queueUrl } = await sqs.createQueue(`unfit-${nextId()}`);
  const host = createAwsHost({
    environment: {
      STEPWELL_DATABASE_URL: url,
      STEPWELL_DATABASE_DRIVER: driver,
      STEPWELL_QUEUE_URL: queueUrl,
      STEPWELL_INSECURE: '1',
    },
    writeLog: (line) => log.push(line),
  });
  closing.push(async () => (await host()).engine.deps.store.close());
  const api = createApiHandler(host);
  const ask = async (method: string, path: string, body?: object) => {
    const {
      statusCode,
      headers,
      body: text,
    } = await api(httpEvent(method, path, TENANT, body), lambdaContext());
    return { status: statusCode, body: JSON.parse(text), retryAfter: headers?.['retry-after'] };
  };
  const message = {
    messageId: 'm',
    receiptHandle: 'r',
    body: `{"v":1,"tenant":"${TENANT}","instance":"${nextId()}"}`,
  };
  return {
    ask,
    log,
    turn: () => createTurnHandler(host)({ Records: [message] }, endingContext()),
    sweep: () => createSweepHandler(host)({}, lambdaContext()),
  };
}

/** An invocation that has no time to try often. */
function endingContext() {
  const begunMs = Date.now();
  return lambdaContext(() => 5_600 - (Date.now() - begunMs));
}

const document = () => ({
  ...{
    id: nextId(),
    tenant_id: TENANT,
    namespace: 'n',
    name: 's',
    version: 1,
    created_at: '2027-02-11T07:45:00Z',
  },
  blocks: [{ type: 'step', id: 'a', handler: 'noop' }],
});

const stranger = (): string => {
  const url = new URL(migratedUrl);
  url.username = STRANGER;
  return url.href;
};

const UNFIT: readonly [string, 'pg' | 'neon', () => string, RegExp, string][] = [
  [
    'nobody answers',
    'pg',
    () => `postgres://u:${PASSWORD}@127.0.0.1:9/d`,
    /server runs/,
    'database_unreachable',
  ],
  ['the password is wrong', 'pg', () => withPassword(tap.url), /user and password/, 'database_unreachable'],
  [
    'the database is not there',
    'pg',
    () => `${migratedUrl}x`,
    /name of the database/,
    'database_unreachable',
  ],
  ['the password is wrong', 'neon', () => withPassword(tap.url), /user and password/, 'database_unreachable'],
  [
    'the database is not there',
    'neon',
    () => `${migratedUrl}x`,
    /name of the database/,
    'database_unreachable',
  ],
  ['there is no schema', 'pg', () => emptyUrl, /no schema.*npx stepwell migrate/, 'migrations_pending'],
  ['there is no schema', 'neon', () => emptyUrl, /no schema.*npx stepwell migrate/, 'migrations_pending'],
  ['the schema is older', 'pg', () => oldUrl, /version 1, .*npx stepwell migrate/, 'migrations_pending'],
  ['the schema is older', 'neon', () => oldUrl, /version 1, .*npx stepwell migrate/, 'migrations_pending'],
  ['the login has no rights', 'pg', stranger, /grant the login/, 'database_unreachable'],
  ['the login has no rights', 'neon', stranger, /grant the login/, 'database_unreachable'],
];

describe.each(UNFIT)('when %s (driver %s)', (_what, driver, urlOf, nextStep, reason) => {
  it('requests are 503, messages come again, and the log says what to do, without the password', async () => {
    const { ask, log, turn, sweep } = await install(urlOf(), driver);
    const unavailable = { status: 503, body: { code: 'database_unavailable' }, retryAfter: '1' };
    expect(await ask('GET', '/api/v1/sequences')).toMatchObject(unavailable);
    expect(await ask('POST', '/api/v1/sequences', document())).toMatchObject(unavailable);
    expect(await ask('GET', '/health/ready')).toMatchObject({ status: 503, body: { reason } });
    expect(log.join('')).toMatch(nextStep);
    log.length = 0;
    expect(await turn()).toEqual({ batchItemFailures: [{ itemIdentifier: 'm' }] });
    expect(log.join('')).toMatch(nextStep);
    await expect(sweep()).rejects.toMatchObject({
      name: 'StoreUnavailable',
      message: expect.stringMatching(nextStep),
    });
    for (const secret of [PASSWORD, decodeURIComponent(PASSWORD)]) expect(log.join('')).not.toContain(secret);
  });
});

describe('the function that migrates', () => {
  it('says why it could not, without the password', async () => {
    const deployTo = (url: string) =>
      createDeployHandler(
        {},
        { environment: { STEPWELL_DATABASE_URL: url }, writeLog: () => {} },
      )({ action: 'migrate' });
    await expect(deployTo(withPassword(tap.url))).rejects.toThrow(/28P01.*check user and password/);
    const failed = deployTo(`postgres://u:${decodeURIComponent(PASSWORD)}@host/d`);
    await expect(failed).rejects.toThrow(/not of the form/);
    await expect(failed).rejects.not.toThrow(/p4ss/);
  });
});
