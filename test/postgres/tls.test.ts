import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPgDriver, type PgDriverOptions } from '../../src/adapters/postgres/drivers/pg.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { type PostgresServer, startPostgresServer } from '../support/postgres-server.ts';
import { startWireTap } from '../support/wire-tap.ts';

/** This machine by a name that does not say so: what is default elsewhere is default here. */
const ELSEWHERE = '127.1';
const IS_ENCRYPTED = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';

let certificates: Certificates;
let server: PostgresServer;
let plainServer: PostgresServer;

beforeAll(async () => {
  certificates = makeCertificates(`DNS:${ELSEWHERE},IP:127.0.0.1`);
  [server, plainServer] = await Promise.all([
    startPostgresServer({ max_connections: '20', ...certificates.serverSettings }),
    startPostgresServer({ max_connections: '20' }),
  ]);
});
afterAll(async () => {
  await Promise.all([server.stop(), plainServer.stop()]);
  certificates.remove();
});

function addressOf(query = '', host = ELSEWHERE, of = server): string {
  return `${of.url.replace('127.0.0.1', host)}${query}`;
}

async function isEncrypted(
  connectionString: string,
  options: Partial<PgDriverOptions> = {},
): Promise<unknown> {
  const driver = createPgDriver({ connectionString, poolSize: 1, ...options });
  try {
    const [row] = await driver.query(IS_ENCRYPTED, []);
    const session = await driver.openSession();
    const [sessionRow] = await session.run(IS_ENCRYPTED);
    await session.end();
    expect(sessionRow).toEqual(row);
    return row?.[0];
  } finally {
    await driver.close();
  }
}

describe('a connection that leaves the machine', () => {
  it('is encrypted and refuses a certificate that nobody vouches for, and says what to do', async () => {
    await expect(isEncrypted(addressOf())).rejects.toMatchObject({
      name: 'StoreUnavailable',
      unknown: false,
      message: expect.stringMatching(/certificate.*STEPWELL_DATABASE_CA/),
    });
  });

  it.each(['?sslmode=require', '?sslmode=prefer', '?sslmode=verify-ca', '?sslmode=verify-full', '?ssl=true'])(
    'asks who answers with %s as well',
    async (query) => {
      await expect(isEncrypted(addressOf(query))).rejects.toThrow(/STEPWELL_DATABASE_CA/);
      expect(await isEncrypted(addressOf(query), { ca: certificates.caText })).toBe(true);
    },
  );

  it('trusts an authority that is given as text, in one line, as a file, or in the address', async () => {
    const { caText, caFile } = certificates;
    expect(await isEncrypted(addressOf(), { ca: caText })).toBe(true);
    expect(await isEncrypted(addressOf(), { ca: caText.trim().replaceAll('\n', String.raw`\n`) })).toBe(true);
    expect(await isEncrypted(addressOf(), { ca: caFile })).toBe(true);
    expect(await isEncrypted(addressOf(`?sslrootcert=${encodeURIComponent(caFile)}`))).toBe(true);
  });

  it('is encrypted without asking who answers with sslmode=no-verify', async () => {
    expect(await isEncrypted(addressOf('?sslmode=no-verify'))).toBe(true);
  });

  it('is not encrypted with sslmode=disable only', async () => {
    expect(await isEncrypted(addressOf('?sslmode=disable'))).toBe(false);
  });

  it('refuses the certificate of another name', async () => {
    const address = addressOf('?sslmode=verify-full', 'localhost');
    await expect(isEncrypted(address, { ca: certificates.caText })).rejects.toThrow(/name/);
  });

  it('says nothing to a server without TLS but that it wants some', async () => {
    const tap = await startWireTap(plainServer.url);
    const address = tap.url.replace('127.0.0.1', ELSEWHERE);
    await expect(isEncrypted(address)).rejects.toThrow(/sslmode=disable/);
    expect(JSON.stringify(tap.messages)).not.toContain('postgres');
    await tap.close();
    expect(await isEncrypted(addressOf('?sslmode=disable', ELSEWHERE, plainServer))).toBe(false);
  });

  it('makes no library warn of what it means', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error) => void warnings.push(warning.message);
    process.on('warning', listen);
    await isEncrypted(addressOf('?sslmode=require'), { ca: certificates.caText });
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });
});

describe('a connection that stays on the machine', () => {
  it('is encrypted when the address or an authority asks for it', async () => {
    const here = addressOf('', '127.0.0.1');
    expect(await isEncrypted(here)).toBe(false);
    expect(await isEncrypted(here, { ca: certificates.caText })).toBe(true);
    expect(await isEncrypted(`${here}?sslmode=no-verify`)).toBe(true);
  });
});

describe('settings that describe no connection', () => {
  it.each([
    ['?sslmode=perhaps', {}, /sslmode/],
    ['', { ca: '/nowhere/secret-name.pem' }, /STEPWELL_DATABASE_CA/],
    ['?sslcert=/nowhere/cert.pem', {}, /sslcert/],
  ])('%s %s: say what is wrong, to every call', async (query, options, expected) => {
    const failed = isEncrypted(addressOf(query), options);
    await expect(failed).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: false });
    await expect(failed).rejects.toThrow(expected);
    await expect(failed).rejects.not.toThrow(/secret-name/);
  });
});
