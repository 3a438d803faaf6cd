import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startPostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers GET with `{url, prefix}`: the server's address and the prefix for names of databases of this run. */
    readonly postgresBroker: string;
  }
}

/**
 * One PostgreSQL server for the whole test run, started when the first test file asks for a database, so that runs
 * without such files do not pay for it. STEPWELL_TEST_DATABASE_URL (a superuser's) is used instead when it is set.
 */
export default async function setUpPostgres(project: TestProject): Promise<() => Promise<void>> {
  const external = process.env['STEPWELL_TEST_DATABASE_URL'];
  const prefix = `stepwell_test_${randomBytes(4).toString('hex')}_`;
  let started: ReturnType<typeof startPostgresServer> | undefined;
  const serverUrl = async (): Promise<string> => {
    if (external !== undefined && external !== '') {
      return external;
    }
    started ??= startPostgresServer();
    return (await started).url;
  };
  const broker = createServer((_request, response) => {
    serverUrl().then(
      (url) => response.end(JSON.stringify({ url, prefix })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  project.provide('postgresBroker', `http://127.0.0.1:${await listen(broker)}/`);
  return async () => {
    broker.close();
    if (started !== undefined) {
      await (await started).stop();
    } else if (external !== undefined && external !== '') {
      await dropDatabases(external, prefix);
    }
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const found = await client.query<{ datname: string }>(
      'SELECT datname FROM pg_database WHERE datname LIKE $1',
      [`${prefix.replaceAll('_', '\\_')}%`],
    );
    for (const { datname } of found.rows) {
      await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
    }
  } finally {
    await client.end();
  }
}
