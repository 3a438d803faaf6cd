import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import * as z from 'zod';

/** A database of its own on the shared PostgreSQL server. */
export interface TestDatabase {
  /** Superuser's connection string. */
  readonly url: string;
  /** Ends all connections and deletes it; optional, since the run's end does the same. */
  drop(): Promise<void>;
}

/** A state that many databases start from. It is prepared once per run, whichever test file comes first. */
export interface DatabaseTemplate {
  /** Letters, digits and underscores; the same name always means the same `prepare`. */
  readonly name: string;
  /** Brings an empty database into the state, e.g. by running the migrations. It must close its connections. */
  readonly prepare: (url: string) => Promise<void>;
}

const brokerAnswer = z.object({ url: z.string(), prefix: z.string() });

/** Makes an empty database, or one copied from `template` (some 50 ms, however many migrations there are). */
export async function createTestDatabase(template?: DatabaseTemplate): Promise<TestDatabase> {
  const response = await fetch(inject('postgresBroker'));
  if (!response.ok) {
    throw new Error(await response.text());
  }
  const server = brokerAnswer.parse(await response.json());
  const name = `${server.prefix}${randomBytes(6).toString('hex')}`;
  await withClient(server.url, async (client) => {
    const source = template === undefined ? 'template1' : await preparedTemplate(client, server, template);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${source}`);
  });
  return {
    url: urlOfDatabase(server.url, name),
    drop: () =>
      withClient(server.url, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
}

/** The advisory lock makes the first caller prepare and the others wait; it ends with the session in any case. */
async function preparedTemplate(
  client: pg.Client,
  server: z.infer<typeof brokerAnswer>,
  template: DatabaseTemplate,
): Promise<string> {
  const name = `${server.prefix}template_${template.name}`;
  await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
  const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (found.rowCount === 0) {
    const draft = `${name}_draft`;
    await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${draft}`);
    await template.prepare(urlOfDatabase(server.url, draft));
    await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
  }
  await client.query('SELECT pg_advisory_unlock(hashtext($1))', [name]);
  return name;
}

async function withClient(url: string, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

function urlOfDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
