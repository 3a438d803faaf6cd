import * as z from 'zod';
import { systemClock, systemEntropy } from '../../adapters/system.ts';
import type { Advice } from '../../core/advice.ts';
import type { Json } from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { createIdSource } from '../../engine/ids.ts';
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

/** Reads a document from a file; what a person need not write (id, tenant, namespace, version, time) is filled in. */
export async function readDraftFile(
  file: string,
  client: ApiClient,
  tenant: string,
): Promise<Result<DraftDocument, Advice>> {
  const content = readJsonFile(file);
  if (!content.ok) return content;
  const draft = Draft.safeParse(content.value);
  if (!draft.success) {
    return err({
      message: `${file} is no sequence`,
      next: 'It must hold one JSON object with at least name (a text) and blocks (a list).',
    });
  }
  const owner = draft.data.tenant_id ?? tenant;
  const version = await versionOf(client, draft.data, owner);
  if (!version.ok) return version;
  const document = z.json().parse({
    id: createIdSource(systemClock, systemEntropy).newId(),
    created_at: new Date(systemClock.nowMs()).toISOString(),
    ...draft.data,
    tenant_id: owner,
    version: version.value,
  });
  return ok({ name: draft.data.name, version: version.value, document });
}

/** The document's version, else one more than the newest version, deprecated or not, else 1. */
async function versionOf(client: ApiClient, draft: Draft, tenant: string): Promise<Result<unknown, Advice>> {
  if (draft.version !== undefined) return ok(draft.version);
  const name = { tenant_id: tenant, namespace: draft.namespace, name: draft.name };
  const query = new URLSearchParams({ ...name, limit: '1' });
  const newest = await client.get(`/sequences?${query.toString()}`, SequencePage);
  return newest.ok ? ok((newest.value.items[0]?.version ?? 0) + 1) : newest;
}
