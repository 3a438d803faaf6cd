import { inspect } from 'node:util';
import { neonConfig } from '@neondatabase/serverless';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createNeonDriver } from '../../src/adapters/postgres/drivers/neon.ts';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { startWireTap } from '../support/wire-tap.ts';

const PASSWORD = 'pässwörd/日本';
const FORMS = [PASSWORD, encodeURIComponent(PASSWORD)];

let neon: NeonLocal;
let url: string;
const real = {
  fetchFunction: neonConfig.fetchFunction,
  webSocketConstructor: neonConfig.webSocketConstructor,
};

beforeAll(async () => {
  neon = await startNeonLocal();
  const withPassword = new URL((await createTestDatabase()).url);
  withPassword.password = PASSWORD;
  url = withPassword.href;
});
afterEach(() => {
  neonConfig.fetchFunction = real.fetchFunction;
});
afterAll(() => neon.close());

const throughNeon = (connectionString: string): SqlDriver =>
  createNeonDriver({ connectionString, clock: systemClock });

/** An error as whoever logs it may show it, with its causes and its own members. */
async function shownBy(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return inspect(error, { depth: 10 });
  }
  throw new Error('it did not fail');
}

function expectSecret(shown: string): void {
  for (const form of FORMS) expect(shown).not.toContain(form);
}

describe('the password of a database', () => {
  it('may have any characters, also where it travels in a header', async () => {
    const raw = url.replace(encodeURIComponent(PASSWORD), 'pässwörd%2F日本');
    for (const address of [url, raw]) {
      const driver = throughNeon(address);
      expect(await driver.query('SELECT 1', [])).toEqual([[1]]);
    }
  });

  it('is not told by an address that is none', async () => {
    for (const address of [`postgres://u:${PASSWORD}@h:port/d`, `postgres://u:${PASSWORD}@h/d`, PASSWORD]) {
      expectSecret(await shownBy(() => throughNeon(address)));
      expectSecret(await shownBy(() => createPgDriver({ connectionString: address }).query('SELECT 1', [])));
    }
  });

  it('is not told by what a library says of its request', async () => {
    neonConfig.fetchFunction = (_url: string, init: RequestInit) => {
      throw new TypeError(`invalid header value ${JSON.stringify(init.headers)}`);
    };
    const shown = await shownBy(() => throughNeon(url).query('SELECT 1', []));
    expect(shown).toContain('invalid header value');
    expectSecret(shown);
  });

  it('is not told by a refused connection, a refused login, or a broken statement', async () => {
    const tap = await startWireTap(url);
    tap.refuseStartup(() => true, '28P01', `password authentication failed with ${PASSWORD}`);
    for (const address of [tap.url, url.replace(/:\d+\//, ':9/')]) {
      const driver = createPgDriver({ connectionString: address, poolSize: 1 });
      expectSecret(await shownBy(() => driver.query('SELECT 1', [])));
      expectSecret(await shownBy(() => driver.openSession()));
      await driver.close();
    }
    await tap.close();
    const driver = createPgDriver({ connectionString: url, poolSize: 1 });
    expectSecret(await shownBy(() => driver.query('SELECT nothing', [])));
    await driver.close();
  });
});
