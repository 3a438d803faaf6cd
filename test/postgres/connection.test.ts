import { describe, expect, it } from 'vitest';
import {
  directAddress,
  isLocal,
  namesPooler,
  parseAddress,
  secretsOf,
} from '../../src/adapters/postgres/connection/address.ts';
import { notConnected } from '../../src/adapters/postgres/connection/not-connected.ts';
import { pgSettingsOf } from '../../src/adapters/postgres/connection/pg-settings.ts';
import { createSqlDriver } from '../../src/adapters/postgres/driver.ts';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { SqlError } from '../../src/adapters/postgres/sql-error.ts';
import { tlsOf } from '../../src/adapters/postgres/connection/tls.ts';

const read = (text: string): URL => {
  const url = parseAddress(text);
  if (url === null) throw new Error(`no address: ${text}`);
  return url;
};

describe('an address of a database', () => {
  it('is a URL of PostgreSQL', () => {
    for (const text of ['postgres://u:p@h/d', 'postgresql://h', 'postgres:///d?host=/run/postgresql']) {
      expect(parseAddress(text)).not.toBeNull();
    }
    for (const text of [
      '',
      'mysql://u@h/d',
      'host=h user=u',
      'postgres://u:p@h:port/d',
      'postgres://u:%zz@h/d',
    ]) {
      expect(parseAddress(text)).toBeNull();
    }
  });

  it('whose password cuts it short is none, lest half of the password is shown as a host', () => {
    for (const password of ['12/34', '12?34', '12#34']) {
      expect(parseAddress(`postgres://user:${password}@host/db`)).toBeNull();
    }
    expect(parseAddress('postgres://user:12%2F34@host/db')?.hostname).toBe('host');
  });

  it.each([
    ['postgres://u:p@ep-cool-name-pooler.eu-central-1.aws.neon.tech/db', true],
    ['postgres://u:p@ep-cool-name.eu-central-1.aws.neon.tech/db', false],
    ['postgres://u:p@aws-0-eu.pooler.supabase.com:6543/db', true],
    ['postgres://u:p@aws-0-eu.pooler.supabase.com:5432/db', false],
    ['postgres://u:p@db.internal:6432/db', true],
    ['postgres://u:p@app.proxy-abc123.eu-west-1.rds.amazonaws.com/db', true],
    ['postgres://u:p@app.abc123.eu-west-1.rds.amazonaws.com/db', false],
    ['postgres://u:p@h/db?pgbouncer=true', true],
    ['postgres://u:p@h/db', false],
  ])('%s names a pooler: %s', (text, expected) => {
    expect(namesPooler(read(text))).toBe(expected);
  });

  it('of a pooler at Neon tells the address of the database itself', () => {
    const pooled = 'postgres://u:p@ep-x-pooler.eu.aws.neon.tech/db?sslmode=require';
    expect(directAddress(pooled)).toBe('postgres://u:p@ep-x.eu.aws.neon.tech/db?sslmode=require');
    expect(directAddress('postgres://u:p@db-pooler.example/db')).toBe('postgres://u:p@db-pooler.example/db');
  });

  it('is local on the loopback interface and over a socket', () => {
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]']) {
      expect(isLocal(read(`postgres://u@${host}/d`))).toBe(true);
    }
    expect(isLocal(read('postgres:///d?host=/run/postgresql'))).toBe(true);
    for (const host of ['db', '10.0.0.1', 'localhost.example']) {
      expect(isLocal(read(`postgres://u@${host}/d`))).toBe(false);
    }
    expect(isLocal(read('postgres://u@localhost/d?host=db.example'))).toBe(false);
  });
});

describe('the settings of a connection', () => {
  it('leave what is said at the start to sessions of our own', () => {
    const startupOf = (connectionString: string, pooler?: 'transaction' | 'none') => {
      const settings = pgSettingsOf({ connectionString, ...(pooler === undefined ? {} : { pooler }) }, {});
      return settings.ok ? settings.value.startup : settings.error;
    };
    expect(startupOf('postgres://u:p@h/d')).toMatchObject({ statement_timeout: 10_000 });
    expect(startupOf('postgres://u:p@h/d', 'transaction')).toBeNull();
    expect(startupOf('postgres://u:p@h:6543/d')).toBeNull();
    expect(startupOf('postgres://u:p@h:6543/d', 'none')).toMatchObject({ lock_timeout: 2_000 });
  });

  it('take PGSSLMODE where the address says nothing', () => {
    const tls = (text: string, mode?: string) => tlsOf(read(text), mode === undefined ? {} : { mode });
    expect(tls('postgres://h/d', 'disable')).toEqual({ ok: true, value: false });
    expect(tls('postgres://h/d', '')).toEqual({ ok: true, value: { rejectUnauthorized: true } });
    expect(tls('postgres://h/d?sslmode=no-verify', 'disable')).toEqual({
      ok: true,
      value: { rejectUnauthorized: false },
    });
    expect(tls('postgres:///d?host=/run/postgresql&sslmode=require')).toEqual({ ok: true, value: false });
    expect(tls('postgres://%2Frun%2Fpostgresql/d', 'require')).toEqual({ ok: true, value: false });
    expect(tls('postgres://h/d?sslrootcert=system')).toEqual({
      ok: true,
      value: { rejectUnauthorized: true },
    });
  });
});

describe('a failed attempt to connect', () => {
  const failed = (code: string, message: string, secrets: readonly string[] = []) =>
    notConnected(Object.assign(new Error(message), { code }), secrets);

  it.each([
    ['ECONNREFUSED', true, /server runs/],
    ['ENOTFOUND', true, /host/],
    ['EAI_AGAIN', true, /host/],
    ['57P03', true, /starting/],
    ['53300', true, /max_connections/],
    ['08P01', true, /server runs/],
    ['28P01', false, /password/],
    ['3D000', false, /name of the database/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', false, /STEPWELL_DATABASE_CA/],
  ])('%s passes: %s', (code, isPassing, next) => {
    const error = failed(code, 'it did not work');
    expect(error).toMatchObject({ isPassing, unknown: false, code });
    expect(error.message).toMatch(next);
    expect(error.message).toContain(code);
  });

  it('is told without the password, in any form', () => {
    const url = read('postgres://user:p%40ss-w%C3%B6rd@host/db');
    const secrets = secretsOf(url);
    const error = failed('X', `cannot use ${url.href}, that is p@ss-wörd`, secrets);
    expect(error.message).toBe(
      'the database was not reached: cannot use postgres://user:***@host/db, that is *** (X)',
    );
    expect(error.cause).toBeUndefined();
  });

  it('is told without a password that stands among the parameters', () => {
    const text = 'postgres://u@h/db?sslmode=disable&password=ab%25cd';
    const secrets = secretsOf(read(text));
    expect(failed('X', `cannot use ${text}, that is ab%cd`, secrets).message).toContain(
      'use postgres://u@h/db?sslmode=disable&password=***, that is ***',
    );
    expect(createPgDriver({ connectionString: text }).roundTripCount()).toBe(0);
  });

  it('for want of one that is free is told so', () => {
    const error = notConnected(new Error('timeout exceeded when trying to connect'), []);
    expect(error).toMatchObject({ isPassing: true, unknown: false, code: null });
    expect(error.message).toMatch(/STEPWELL_DATABASE_MAX_CONNECTIONS/);
  });

  it('whose error says nothing is told by its code', () => {
    const error = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
    expect(notConnected(error, []).message).toMatch(/reached: ECONNREFUSED; check/);
  });
});

describe('the way to a database', () => {
  it('counts the round trip that asks for the version of an older schema', async () => {
    const unknownName = new SqlError('no such function', { code: '42883', constraint: null, cause: null });
    let sent = 0;
    const driver = createSqlDriver({
      send: () => ((sent += 1) === 1 ? Promise.reject(unknownName) : Promise.resolve([[[1]]])),
      openSession: () => Promise.reject(unknownName),
      close: () => Promise.resolve(),
    });
    await expect(driver.query('SELECT 1', [])).rejects.toThrow(/stepwell migrate/);
    expect(driver.roundTripCount()).toBe(2);
  });
});
