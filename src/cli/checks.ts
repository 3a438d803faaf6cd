import { existsSync } from 'node:fs';
import * as z from 'zod';
import { openDataFolder } from '../adapters/local/data-folder.ts';
import { hasDatabase } from '../adapters/local/template.ts';
import { listen } from '../adapters/node-server/listen.ts';
import { SCHEMA_VERSION } from '../adapters/postgres/migrate.ts';
import { createPostgresStore } from '../adapters/postgres/store.ts';
import { systemClock } from '../adapters/system.ts';
import { loadRegistry } from './load-registry.ts';
import { docPath, packageFacts } from './package-facts.ts';
import { describeDatabase } from './settings/database-target.ts';
import { openServerDriver } from './server-driver.ts';
import type { Settings } from '../settings/schema.ts';

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

/** @param isRunning A Stepwell answers at the port, so that a folder in use is most likely its own. */
export async function checkDatabase(settings: Settings, isRunning: boolean): Promise<Check> {
  const name = 'database';
  const target = settings.databaseUrl;
  const detail = describeDatabase(target);
  switch (target.kind) {
    case 'memory':
      return { name, state: 'warning', detail, next: 'Instances do not outlive the process.' };
    case 'folder':
      return await checkFolder(target.folder, detail, isRunning);
    case 'server':
      return await checkServer(target.url, settings, detail);
    default:
      return target satisfies never;
  }
}

/** A folder that is not there is not made. */
async function checkFolder(folder: string, shown: string, isRunning: boolean): Promise<Check> {
  const name = 'database';
  if (!existsSync(folder)) return { name, state: 'fine', detail: `${shown} will be made`, next: null };
  const opened = await openDataFolder(folder, systemClock);
  if (!opened.ok) {
    const { message, next } = opened.error;
    // Stopping what runs well is the last thing to advise.
    const isItsOwn = isRunning && message.includes(' is in use by ');
    return isItsOwn
      ? { name, state: 'fine', detail: message, next: null }
      : { name, state: 'wrong', detail: message, next };
  }
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
    const next = `${docPath('databases.md')} describes addresses, certificates, poolers and logins.`;
    return { name, state: 'wrong', detail: `${shown} does not answer: ${reason}`, next };
  } finally {
    await store.close();
  }
}

/** What answers at the port: a Stepwell is no reason to worry. */
export async function checkPort(settings: Settings): Promise<Check & { readonly isRunning: boolean }> {
  const { host, port } = settings.httpAddr;
  const name = 'port';
  const detail = `${host}:${port}`;
  const server = await listen({ fetch: () => new Response() }, { host, port, clock: systemClock });
  if (server.ok) {
    await server.value.close(0);
    return { name, state: 'fine', detail: `${detail} is free`, next: null, isRunning: false };
  }
  const version = server.error.code === 'EADDRINUSE' ? await stepwellAt(host, port) : null;
  if (version !== null) {
    const next = 'A second server here needs another port: --port.';
    const running = `${detail} is where Stepwell ${version} is running`;
    return { name, state: 'fine', detail: running, next, isRunning: true };
  }
  const next = 'Choose another port with --port, or stop the program that uses it.';
  const taken = `${detail} cannot be used (${server.error.code})`;
  return { name, state: 'wrong', detail: taken, next, isRunning: false };
}

const ANSWER_WITHIN_MS = 2000;
const Info = z.looseObject({ version: z.string(), contract_schema_version: z.number() });

/** The version of the Stepwell that answers there; null for any other program. */
async function stepwellAt(host: string, port: number): Promise<string | null> {
  const name = ANYWHERE.has(host) ? '127.0.0.1' : host;
  const giveUp = new AbortController();
  const disarm = systemClock.after(ANSWER_WITHIN_MS, () => giveUp.abort());
  try {
    const answer = await fetch(`http://${name.includes(':') ? `[${name}]` : name}:${port}/info`, {
      signal: giveUp.signal,
    });
    const info = Info.safeParse(await answer.json());
    return info.success ? info.data.version : null;
  } catch {
    return null;
  } finally {
    disarm();
  }
}

const ANYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
