import { describe, expect, it } from 'vitest';
import { describeDatabase } from '../../src/cli/settings/database-target.ts';
import { resolveSettings, type SettingSources } from '../../src/cli/settings/resolve.ts';
import { environmentName, settingKeys } from '../../src/settings/schema.ts';

const nothing: SettingSources = { flags: [], environment: {}, file: null, commandDefaults: {} };

function resolved(sources: Partial<SettingSources>) {
  const result = resolveSettings({ ...nothing, ...sources });
  if (!result.ok) throw new Error(result.error.join('\n'));
  return result.value;
}

function problems(sources: Partial<SettingSources>): readonly string[] {
  const result = resolveSettings({ ...nothing, ...sources });
  return result.ok ? [] : result.error;
}

describe('settings', () => {
  it('has a default for everything, so that nothing needs to be configured', () => {
    const { settings, warnings } = resolved({});
    expect(settings).toMatchObject({
      httpAddr: { host: '127.0.0.1', port: 8080 },
      databaseUrl: { kind: 'folder', folder: '.stepwell' },
      leaseMs: 60_000,
      tickIntervalMs: 100,
      requireTenantHeader: true,
    });
    expect(warnings).toEqual([]);
  });

  it('takes a flag before the environment, the environment before the file, the file before the default', () => {
    const file = { path: 'stepwell.config.json', values: { leaseMs: 3000, batchSize: 3, cronTickSecs: 3 } };
    const environment = { STEPWELL_LEASE_MS: '2000', STEPWELL_BATCH_SIZE: '2' };
    const flags = [{ key: 'leaseMs', name: '--lease-ms', value: '1000' }] as const;
    expect(resolved({ file, environment, flags }).settings).toMatchObject({
      leaseMs: 1000,
      batchSize: 2,
      cronTickSecs: 3,
      workerReaperTickSecs: 30,
    });
  });

  it('lets what a command decides stand only where nobody said otherwise', () => {
    const commandDefaults = { requireTenantHeader: false, insecure: true };
    const { settings } = resolved({ commandDefaults, environment: { STEPWELL_REQUIRE_TENANT_HEADER: '1' } });
    expect(settings).toMatchObject({ requireTenantHeader: true, insecure: true });
  });

  it('proposes no name for a short word, nor one that is without effect', () => {
    const { warnings } = resolved({ environment: { STEPWELL_X: '1', STEPWELL_OTLP_ENDPOINTS: '1' } });
    expect(warnings).toEqual([
      'STEPWELL_X is not a setting and has no effect.',
      'STEPWELL_OTLP_ENDPOINTS is not a setting and has no effect.',
    ]);
  });

  it('lets no command switch the tenant header off once there is a root key, so that dev and doctor take an exported one', () => {
    const commandDefaults = { requireTenantHeader: false, insecure: true };
    const { settings } = resolved({ commandDefaults, environment: { STEPWELL_API_KEY: 'a-root-key' } });
    expect(settings).toMatchObject({ requireTenantHeader: true, apiKey: 'a-root-key' });
  });

  it.each([
    ['postgres://me:pw@db.example:6543/app?x=1', 'PostgreSQL db.example:6543/app'],
    ['pglite:memory', 'memory (gone when the process ends)'],
    ['pglite:/srv/data', '/srv/data'],
  ])('reads the database %s and shows it without secrets', (url, shown) => {
    const { settings } = resolved({ environment: { STEPWELL_DATABASE_URL: url } });
    expect(describeDatabase(settings.databaseUrl)).toBe(shown);
  });

  it.each([
    ['127.0.0.1:0', '127.0.0.1', 0],
    [':9000', '127.0.0.1', 9000],
    ['[::1]:80', '::1', 80],
    ['localhost:8080', 'localhost', 8080],
  ])('reads the listen address %s', (text, host, port) => {
    expect(resolved({ environment: { STEPWELL_HTTP_ADDR: text } }).settings.httpAddr).toEqual({ host, port });
  });

  it.each(['1', 'TRUE', ' true '])('reads %j as true', (value) => {
    const environment = { STEPWELL_ALLOW_INTERNAL_URLS: value };
    expect(resolved({ environment }).settings.allowInternalUrls).toBe(true);
  });

  it('reads lists and drops blanks in them', () => {
    const environment = { STEPWELL_CORS_ORIGINS: 'https://a.example, ,http://localhost:3000' };
    expect(resolved({ environment }).settings.corsOrigins).toEqual([
      'https://a.example',
      'http://localhost:3000',
    ]);
  });

  it('takes an empty variable for an absent one', () => {
    expect(resolved({ environment: { STEPWELL_LEASE_MS: '' } }).settings.leaseMs).toBe(60_000);
  });

  it.each([
    ['STEPWELL_BATCH_SIZE', '12x', 'a text of 3 characters'],
    ['STEPWELL_BATCH_SIZE', '0', 'a number outside of that'],
    ['STEPWELL_BATCH_SIZE', '99999999', 'a number outside of that'],
    ['STEPWELL_HTTP_ADDR', '8080', 'a number outside of that'],
    ['STEPWELL_HTTP_ADDR', 'localhost:99999', 'a text of 15 characters'],
    ['STEPWELL_INSECURE', 'perhaps', 'a text of 7 characters'],
    ['STEPWELL_ALLOW_INTERNAL_URLS', 'yes', 'a text of 3 characters'],
    ['STEPWELL_LOG_LEVEL', 'loud', 'a text of 4 characters'],
    ['STEPWELL_DATABASE_URL', 'mysql://me:hunter2@db/app', 'a text of 25 characters'],
    ['STEPWELL_CORS_ORIGINS', 'example.com/path', 'a text of 16 characters'],
  ])('refuses %s=%s and names the variable, the kind of value and the way out', (name, value, kind) => {
    const [problem, ...others] = problems({ environment: { [name]: value } });
    expect(others).toEqual([]);
    expect(problem).toContain(`${name} must be `);
    expect(problem).toContain(kind);
    expect(problem).toContain('Correct it, or remove it');
    expect(problem).not.toContain('hunter2');
  });

  it('names a bad member of the config file and where it stands', () => {
    const file = { path: 'stepwell.config.json', values: { leaseMs: 1.5 } };
    expect(problems({ file })[0]).toMatch(/^leaseMs in stepwell.config.json must be .*, but is a fraction/);
  });

  it('reports every bad value at once', () => {
    expect(
      problems({ environment: { STEPWELL_LEASE_MS: 'x', STEPWELL_BATCH_SIZE: 'y', STEPWELL_INSECURE: 'z' } }),
    ).toHaveLength(3);
  });

  it.each([
    ['STEPWELL_LEASE_MSS', 'is not a setting and has no effect. Did you mean STEPWELL_LEASE_MS?'],
    ['STEPWELL_SOMETHING_ELSE_ENTIRELY', 'is not a setting and has no effect.'],
    ['STEPWELL_OTLP_ENDPOINT', 'has no effect in this release.'],
  ])('warns about %s', (name, text) => {
    const { warnings } = resolved({ environment: { [name]: 'hunter2', PATH: '/bin' } });
    expect(warnings).toEqual([`${name} ${text}`]);
  });

  it('takes names of the environment in the config file and warns about unknown members', () => {
    const file = { path: 'c.json', values: { STEPWELL_LEASE_MS: 5000, leaseMS: 1, ['__proto__x']: 2 } };
    const { settings, warnings } = resolved({ file });
    expect(settings.leaseMs).toBe(5000);
    expect(warnings[0]).toBe('leaseMS in c.json is not a setting and has no effect. Did you mean leaseMs?');
    expect(warnings).toHaveLength(2);
  });

  it('refuses to show all tenants to holders of a key by accident', () => {
    const environment = { STEPWELL_API_KEY: 'k', STEPWELL_REQUIRE_TENANT_HEADER: 'false' };
    expect(problems({ environment })[0]).toContain('STEPWELL_ALLOW_NO_TENANT_ISOLATION=true');
    expect(problems({ environment: { ...environment, STEPWELL_ALLOW_NO_TENANT_ISOLATION: 'true' } })).toEqual(
      [],
    );
  });

  it('refuses the origin * while a root key is set', () => {
    expect(problems({ environment: { STEPWELL_API_KEY: 'k', STEPWELL_CORS_ORIGINS: '*' } })).toHaveLength(1);
    expect(problems({ environment: { STEPWELL_CORS_ORIGINS: '*' } })).toEqual([]);
  });

  it('gives each setting one name in the environment', () => {
    const names = settingKeys.map(environmentName);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('STEPWELL_MAX_STEPS_PER_INVOCATION');
  });
});
