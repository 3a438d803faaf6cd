import { describe, expect, it } from 'vitest';
import { createDeployHandler } from '../../functions/aws/deploy.ts';
import {
  readDeploySettings,
  readSettings,
  readWorkerSettings,
  settingWarnings,
} from '../../functions/settings.ts';
import { resolveSettings } from '../../src/cli/settings/resolve.ts';
import { environmentName, settingKeys } from '../../src/settings/schema.ts';

const BASE = {
  STEPWELL_DATABASE_URL: 'postgres://u:p@db.example.com/app',
  STEPWELL_QUEUE_URL: 'https://queue.example.com/turns',
  STEPWELL_API_KEY: 'root-key',
};
const VALUES: readonly string[] = [
  ...[
    '',
    ' ',
    'nonsense',
    '-1',
    '0',
    '1',
    '10',
    '1.5',
    '1e3',
    '0x10',
    ' 50 ',
    '1000',
    '99999999999999999999',
  ],
  ...['TRUE', 'true', 'False', 'yes', 'null', '{}', '[]', '{"*":{"nonsense":1}}', '{"*":{"max_active":3}}'],
  ...[
    'http://',
    'not a url',
    'javascript:alert(1)',
    'https://app.example.com',
    'https://app.example.com/',
    '*',
  ],
  ...['nonsense,https://app.example.com', 'root-key\n', 'clé', 'DEBUG', '10.0.0.0/8', 'ab'.repeat(32)],
];

/** What becomes of a variable: its value, or the sentence that refuses it. */
type Outcome = { readonly value: unknown } | { readonly refused: string };
type Read = (environment: Readonly<Record<string, string>>) => object;

function outcome(read: () => unknown): Outcome {
  try {
    return { value: read() };
  } catch (error) {
    const text = error instanceof Error ? error.message : '';
    return { refused: text.replace(/^the settings of this function are refused: /, '') };
  }
}

const onFunction = (read: Read, name: string, value: string): Outcome =>
  outcome(() => Object.entries(read({ ...BASE, [name]: value })).find(([key]) => key === name)?.[1]);

const onServer = (name: string, value: string): Outcome =>
  outcome(() => {
    const environment = { ...BASE, [name]: value };
    const resolved = resolveSettings({ flags: [], environment, file: null, commandDefaults: {} });
    if (!resolved.ok) throw new Error(resolved.error.join(' '));
    const key = settingKeys.find((candidate) => environmentName(candidate) === name);
    return key === undefined ? undefined : resolved.value.settings[key];
  });

/** Read by functions in their own way, or by them alone. */
const OWN = new Set([
  'STEPWELL_DATABASE_URL',
  'STEPWELL_INVOCATION_SECS',
  'STEPWELL_DATABASE_DRIVER',
  'STEPWELL_QUEUE_URL',
]);
const namesOf = (read: Read): readonly string[] =>
  settingKeys.map(environmentName).filter((name) => settingIsRead(read, name) && !OWN.has(name));

function settingIsRead(read: Read, name: string): boolean {
  const host = read === readWorkerSettings ? 'worker' : 'lambda';
  return settingWarnings(host, { [name]: 'x' }).length === 0;
}

describe.each([
  ['Lambda', readSettings],
  ['Workers', readWorkerSettings],
])('a setting on %s', (_host, read) => {
  it.each(namesOf(read))('%s is taken and refused as by the server, in the same words', (name) => {
    for (const value of VALUES) {
      const expected = onServer(name, value);
      const found = onFunction(read, name, value);
      const isOwnDefault = name === 'STEPWELL_LEASE_MS' && value.trim() === '';
      expect([value, found]).toEqual([value, isOwnDefault ? { value: undefined } : expected]);
    }
  });

  it.each(['', ' '])('that is %j counts as absent, whichever it is', (blank) => {
    const names = [
      ...settingKeys.map(environmentName),
      'STEPWELL_INVOCATION_SECS',
      'STEPWELL_DATABASE_DRIVER',
    ];
    const blanks = Object.fromEntries(names.map((name) => [name, blank]));
    expect(read({ ...blanks, ...BASE })).toEqual(read(BASE));
    expect(() => read({ ...BASE, STEPWELL_DATABASE_URL: blank })).toThrow('but is not set');
  });

  it('that keeps tenants apart is not switched off by an empty value', () => {
    expect(read({ ...BASE, STEPWELL_REQUIRE_TENANT_HEADER: '' }).STEPWELL_REQUIRE_TENANT_HEADER).toBe(true);
  });

  it('of another host, or misspelt, gives a warning', () => {
    const host = read === readWorkerSettings ? 'worker' : 'lambda';
    const environment = {
      STEPWELL_HTTP_ADDR: '127.0.0.1:1',
      STEPWELL_LEASE_M: '1',
      STEPWELL_MIGRATED_BY: 'x',
      PATH: 'x',
    };
    expect(settingWarnings(host, environment)).toEqual([
      'STEPWELL_HTTP_ADDR has no effect on this host.',
      'STEPWELL_LEASE_M is not a setting and has no effect. Did you mean STEPWELL_LEASE_MS?',
    ]);
  });
});

describe('the settings of Lambda alone', () => {
  it.each([
    ['STEPWELL_QUEUE_URL', 'nonsense'],
    ['STEPWELL_DATABASE_URL', 'nonsense'],
    ['STEPWELL_DATABASE_DRIVER', 'mysql'],
    ['STEPWELL_DATABASE_POOLER', 'nonsense'],
    ['STEPWELL_INVOCATION_SECS', '9'],
    ['STEPWELL_INVOCATION_SECS', '1e2'],
    ['STEPWELL_WAKE_GROUP', 'wakes'],
    ['STEPWELL_WAKE_ROLE_ARN', 'arn:aws:iam::1:role/wake'],
    ['STEPWELL_WAKE_TARGET_ARN', 'arn:aws:lambda:us-east-1:1:function:sweep'],
  ])('%s=%s is refused', (name, value) => {
    expect(() => readSettings({ ...BASE, [name]: value })).toThrow(name);
  });

  it.each([
    ['STEPWELL_DATABASE_DRIVER', 'mysql'],
    ['STEPWELL_DATABASE_POOLER', 'nonsense'],
    ['STEPWELL_LEASE_MS', 'soon'],
    ['STEPWELL_REQUIRE_TENANT_HEADER', 'false'],
  ])('%s=%s stops a deployment before it changes anything', async (name, value) => {
    const environment = { STEPWELL_DATABASE_URL: 'postgres://owner@127.0.0.1:1/none', [name]: value };
    expect(() => readDeploySettings(environment)).toThrow(name);
    const deploy = createDeployHandler({ sequenceFiles: {} }, { environment, writeLog: () => undefined });
    await expect(deploy({ action: 'migrate' })).rejects.toThrow(name);
  });

  it('an action that is none stops it too', async () => {
    const environment = { STEPWELL_DATABASE_URL: 'postgres://owner@127.0.0.1:1/none' };
    const deploy = createDeployHandler({ sequenceFiles: {} }, { environment, writeLog: () => undefined });
    await expect(deploy(JSON.parse('{"action":"drop"}'))).rejects.toThrow('the action of a deployment');
  });
});
