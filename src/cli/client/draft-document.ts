import { statSync } from 'node:fs';
import { extname } from 'node:path';
import * as z from 'zod';
import { systemClock, systemEntropy } from '../../adapters/system.ts';
import type { Advice } from '../../core/advice.ts';
import type { Json } from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { createIdSource } from '../../engine/ids.ts';
import { loadSequences } from '../load-sequences.ts';
import { readJsonFile } from '../read-json.ts';
import type { ApiClient } from './api-client.ts';
import { SequenceAnswer } from './schemas.ts';

const SequencePage = z.looseObject({ items: z.array(SequenceAnswer) });

/** What must be known to fill in the rest; the server checks the document itself. */
const Draft = z.looseObject({
  name: z.string(),
  namespace: z.string().default('default'),
  tenant_id: z.string().optional(),
  version: z.json().optional(),
});
type Draft = z.infer<typeof Draft>;

export interface DraftDocument {
  readonly name: string;
  readonly version: unknown;
  /** The whole document, ready to be sent. */
  readonly document: Json;
}

/**
 * The sequences of a path as they stand there: of a JSON file the one that it holds, of a module or a folder those that
 * `stepwell dev --sequences` would publish. A JSON file on its own is judged by the server, which says more.
 */
export async function readDrafts(path: string): Promise<Result<readonly Draft[], Advice>> {
  const contents = isJsonFile(path) ? oneOf(readJsonFile(path)) : await loadSequences(path);
  if (!contents.ok) return contents;
  const drafts: Draft[] = [];
  for (const content of contents.value) {
    const draft = Draft.safeParse(content);
    if (!draft.success) {
      return err({
        message: `${path} is no sequence`,
        next: 'It must hold one JSON object with at least name (a text) and blocks (a list).',
      });
    }
    drafts.push(draft.data);
  }
  if (drafts.length > 0) return ok(drafts);
  return err({
    message: `${path} holds no sequences`,
    next: 'Name a file or a folder with .json, .ts or .mjs files.',
  });
}

/** Fills in what a person need not write: id, tenant, namespace, version, time. */
export async function fillIn(
  draft: Draft,
  client: ApiClient,
  tenant: string,
): Promise<Result<DraftDocument, Advice>> {
  const owner = draft.tenant_id ?? tenant;
  const version = await versionOf(client, draft, owner);
  if (!version.ok) return version;
  const document = z.json().parse({
    id: createIdSource(systemClock, systemEntropy).newId(),
    created_at: new Date(systemClock.nowMs()).toISOString(),
    ...draft,
    tenant_id: owner,
    version: version.value,
  });
  return ok({ name: draft.name, version: version.value, document });
}

/** All that is no module and no folder: `-` and files without an ending were always read as JSON. */
function isJsonFile(path: string): boolean {
  if (['.ts', '.mts', '.js', '.mjs'].includes(extname(path))) return false;
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true;
}

function oneOf(content: Result<Json, Advice>): Result<readonly Json[], Advice> {
  return content.ok ? ok([content.value]) : content;
}

/** The document's version, else one more than the newest version, deprecated or not, else 1. */
async function versionOf(client: ApiClient, draft: Draft, tenant: string): Promise<Result<unknown, Advice>> {
  if (draft.version !== undefined) return ok(draft.version);
  const name = { tenant_id: tenant, namespace: draft.namespace, name: draft.name };
  const query = new URLSearchParams({ ...name, limit: '1' });
  const newest = await client.get(`/sequences?${query.toString()}`, SequencePage);
  return newest.ok ? ok((newest.value.items[0]?.version ?? 0) + 1) : newest;
}
