import { existsSync } from 'node:fs';
import { openDataFolder } from '../adapters/local/data-folder.ts';
import { hasDatabase } from '../adapters/local/template.ts';
import { listen } from '../adapters/node-server/listen.ts';
import { SCHEMA_VERSION } from '../adapters/postgres/migrate.ts';
import { createPostgresStore } from '../adapters/postgres/store.ts';
import { systemClock } from '../adapters/system.ts';
import { loadRegistry } from './load-registry.ts';
import { packageFacts } from './package-facts.ts';
import { describeDatabase } from './settings/database-target.ts';
import { openServerDriver } from './server-driver.ts';
import type { Settings } from './settings.ts';

/** What `stepwell doctor` found out about one thing. */
export interface Check {
  readonly name: string;
  readonly state: 'fine' | 'warning' | 'wrong';
  readonly detail: string;
  readonly next: string | null;
}

const LEAST_NODE = 20;

export function checkNode(): Check {
  const fine = Number(process.versions.node.split('.')[0]) >= LEAST_NODE;
  return {
    name: 'node',
    state: fine ? 'fine' : 'wrong',
    detail: `Node ${process.versions.node}, Stepwell ${packageFacts().version}`,
    next: fine ? null : `Install Node ${LEAST_NODE} or newer.`,
  };
}

export async function checkHandlers(settings: Settings): Promise<Check> {
  const registry = await loadRegistry(settings, packageFacts().version);
  if (!registry.ok) {
    return { name: 'handlers', state: 'wrong', detail: registry.error.message, next: registry.error.next };
  }
  const { userNames } = registry.value;
  const detail = userNames.length === 0 ? 'only built-in handlers' : userNames.join(', ');
  return { name: 'handlers', state: 'fine', detail, next: null };
}

export async function checkDatabase(settings: Settings): Promise<Check> {
  const name = 'database';
  const target = settings.databaseUrl;
  const detail = describeDatabase(target);
  switch (target.kind) {
    case 'memory':
      return { name, state: 'warning', detail, next: 'Instances do not outlive the process.' };
    case 'folder':
      return await checkFolder(target.folder, detail);
    case 'server':
      return await checkServer(target.url, settings, detail);
    default:
      return target satisfies never;
  }
}

/** A folder that is not there is not made. */
async function checkFolder(folder: string, shown: string): Promise<Check> {
  const name = 'database';
  if (!existsSync(folder)) return { name, state: 'fine', detail: `${shown} will be made`, next: null };
  const opened = await openDataFolder(folder, systemClock);
  if (!opened.ok) return { name, state: 'wrong', detail: opened.error.message, next: opened.error.next };
  await opened.value.release();
  const isThere = hasDatabase(opened.value.databasePath);
  return { name, state: 'fine', detail: isThere ? shown : `${shown}, still empty`, next: null };
}

async function checkServer(url: string, settings: Settings, shown: string): Promise<Check> {
  const name = 'database';
  const store = createPostgresStore(openServerDriver(url, settings, 1));
  try {
    const { schemaVersion } = await store.ping();
    const detail = `${shown}, schema ${schemaVersion} of ${SCHEMA_VERSION}`;
    if (schemaVersion >= SCHEMA_VERSION) return { name, state: 'fine', detail, next: null };
    return {
      name,
      state: 'warning',
      detail,
      next: 'Run `stepwell migrate`; `stepwell dev` does it by itself.',
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const next = 'docs/databases.md describes addresses, certificates, poolers and logins.';
    return { name, state: 'wrong', detail: `${shown} does not answer: ${reason}`, next };
  } finally {
    await store.close();
  }
}

export async function checkPort(settings: Settings): Promise<Check> {
  const { host, port } = settings.httpAddr;
  const detail = `${host}:${port}`;
  const server = await listen({ fetch: () => new Response() }, { host, port, clock: systemClock });
  if (!server.ok) {
    const next = 'Choose another port with --port, or stop the program that uses it.';
    return { name: 'port', state: 'wrong', detail: `${detail} cannot be used (${server.error.code})`, next };
  }
  await server.value.close(0);
  return { name: 'port', state: 'fine', detail: `${detail} is free`, next: null };
}
