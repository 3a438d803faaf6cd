import { parseSequence } from '../core/definition/parse-sequence.ts';
import { serialiseSequence } from '../core/definition/serialise.ts';
import { sha256Hex } from '../core/digest.ts';
import { canonicalJson, type JsonObject } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { CatalogStore } from '../ports/store/catalog.ts';
import type { Clock } from '../ports/system.ts';

export interface PublishDraftsDeps {
  readonly store: Pick<CatalogStore, 'getSequence' | 'listVersions' | 'insertSequence'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** What became of one draft. `known`: this content was published before, by whatever deployment. */
export type DraftOutcome =
  | { readonly name: string; readonly outcome: 'published'; readonly version: number }
  | { readonly name: string; readonly outcome: 'known' }
  | { readonly name: string; readonly outcome: 'refused'; readonly problem: string };

/** Versions that are tried above the newest visible one: deprecated ones are not listed. */
const VERSION_TRIES_MAX = 100;

/** A digest of all drafts: the same for the same content, whatever the order of members. */
export function digestOfDrafts(tenantId: string, drafts: readonly JsonObject[]): string {
  return sha256Hex(canonicalJson({ tenantId, drafts: [...drafts] }));
}

/**
 * Publishes what a deployment brings along (sequences.md 3). The id of a version is made from its content, so a draft is
 * published once however often, and from however many processes at once, it is deployed; a changed draft becomes the next
 * version. Rejects only when the database does not answer.
 */
export async function publishDrafts(
  deps: PublishDraftsDeps,
  tenantId: string,
  drafts: readonly JsonObject[],
): Promise<readonly DraftOutcome[]> {
  const outcomes: DraftOutcome[] = [];
  for (const draft of drafts) outcomes.push(await publishDraft(deps, { tenant_id: tenantId, ...draft }));
  return outcomes;
}

async function publishDraft(deps: PublishDraftsDeps, draft: JsonObject): Promise<DraftOutcome> {
  const name = typeof draft['name'] === 'string' ? draft['name'] : 'without a name';
  const id = typeof draft['id'] === 'string' ? draft['id'] : idOf(draft);
  const createdAt = new Date(deps.clock.nowMs()).toISOString();
  const whole: JsonObject = { namespace: 'default', created_at: createdAt, version: 1, ...draft, id };
  const parsed = read(whole);
  if (!parsed.ok) return { name, outcome: 'refused', problem: parsed.error };
  const { document } = parsed.value;
  const { tenant_id: tenantId, namespace } = document;
  if ((await deps.store.getSequence(tenantId, id)) !== null) return { name, outcome: 'known' };
  const isGiven = draft['version'] !== undefined;
  const versions = isGiven ? [] : await deps.store.listVersions({ tenantId, namespace, name });
  const first = isGiven ? document.version : Math.max(0, ...versions.map(({ version }) => version)) + 1;
  for (let version = first; version < first + (isGiven ? 1 : VERSION_TRIES_MAX); version += 1) {
    const answer = await insert(deps, { ...document, version });
    if (answer === 'created') return { name, outcome: 'published', version };
    if (answer === 'id_exists') return { name, outcome: 'known' };
  }
  return { name, outcome: 'refused', problem: `version ${first} is there with another content` };
}

type Parsed = Extract<ReturnType<typeof parseSequence>, { readonly ok: true }>['value'];

function read(draft: JsonObject): Result<Parsed, string> {
  const parsed = parseSequence(draft);
  if (parsed.ok) return ok(parsed.value);
  const problems = parsed.error.details.map(
    ({ path, message }) => `${path === '' ? 'document' : path}: ${message}`,
  );
  return err(problems.length === 0 ? parsed.error.message : problems.join('; '));
}

function insert({ store }: PublishDraftsDeps, document: Parsed['document']) {
  const definition = serialiseSequence(document);
  const { id, tenant_id: tenantId, namespace, name, version, status, deprecated } = document;
  const contentHash = sha256Hex(canonicalJson(definition));
  return store.insertSequence({
    id,
    tenantId,
    namespace,
    name,
    version,
    status,
    deprecated,
    definition,
    contentHash,
  });
}

/** A UUID of version 8 from the content. */
function idOf(draft: JsonObject): string {
  const hex = sha256Hex(canonicalJson(draft));
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join('-');
}
