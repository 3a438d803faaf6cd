import type { SequenceDocument } from '../core/definition/document.ts';
import { parseSequence, type Warning } from '../core/definition/parse-sequence.ts';
import { serialiseSequence } from '../core/definition/serialise.ts';
import { sha256Hex } from '../core/digest.ts';
import { canonicalJson, type JsonObject } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { CatalogStore, NewSequence, SequenceRecord } from '../ports/store/catalog.ts';
import type { Clock } from '../ports/system.ts';
import { warningsOf, type WarningDeps } from './publish-sequence.ts';

export interface PublishDraftsDeps {
  readonly store: Pick<CatalogStore, 'findSequence' | 'insertSequence' | 'publishDeployed'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * What became of one draft. `known`: nothing is to be done, because its content is the newest version and not deprecated,
 * or the deployment before brought the same. `superseded`: a later deployment has published under this name.
 */
export type DraftOutcome =
  | { readonly name: string; readonly outcome: 'published'; readonly version: number }
  | { readonly name: string; readonly outcome: 'known' }
  | { readonly name: string; readonly outcome: 'superseded' }
  | { readonly name: string; readonly outcome: 'refused'; readonly problem: string };

type Outcome = Unnamed<DraftOutcome>;
type Unnamed<T> = T extends unknown ? Omit<T, 'name'> : never;

/** Looks at a name whose newest version is another one each time. */
const LOOKS_MAX = 20;

/**
 * Publishes what a deployment brings along (docs/decisions/0019): its content becomes the newest version of each name,
 * also when an earlier version had the same content, unless the newest has it and is not deprecated, or the deployment before brought the same.
 * Any number of processes may do so at once. A draft that names its version keeps that and no order. Rejects only when the
 * database does not answer.
 *
 * @param deployedAt When the deployment was made, epoch ms: of two deployments the later wins, in whatever order they come
 * here. null: now, for a deployment that publishes once and after all others.
 */
export async function publishDrafts(
  deps: PublishDraftsDeps,
  tenantId: string,
  drafts: readonly JsonObject[],
  deployedAt: number | null = null,
): Promise<readonly DraftOutcome[]> {
  const outcomes: DraftOutcome[] = [];
  const taken = new Set<string>();
  for (const draft of drafts) {
    const read = readDraft(deps, { tenant_id: tenantId, ...draft });
    const outcome: Outcome = read.ok
      ? await publishDraft(deps, read.value, deployedAt, taken)
      : { outcome: 'refused', problem: read.error };
    outcomes.push({ name: nameOf(draft), ...outcome });
  }
  return outcomes;
}

type Refused = Extract<DraftOutcome, { readonly outcome: 'refused' }>;

/** The drafts that are refused whatever the database holds: a deployment asks before it changes anything. */
export function refusedDrafts(
  deps: Pick<PublishDraftsDeps, 'clock'>,
  tenantId: string,
  drafts: readonly JsonObject[],
): readonly Refused[] {
  const taken = new Set<string>();
  return drafts.flatMap((draft): readonly Refused[] => {
    const read = readDraft(deps, { tenant_id: tenantId, ...draft });
    const problem = read.ok ? takeName(taken, read.value) : read.error;
    return problem === null ? [] : [{ name: nameOf(draft), outcome: 'refused', problem }];
  });
}

/**
 * What looks wrong in a draft, as a publish over the API would tell it; nothing for one that is refused. Without `deps`
 * nothing is said of handlers' names.
 */
export async function draftWarnings(
  clock: PublishDraftsDeps['clock'],
  deps: WarningDeps | null,
  draft: JsonObject,
): Promise<readonly Warning[]> {
  const whole = wholeDraft(clock, { tenant_id: 'default', ...draft });
  const parsed = parseSequence(whole);
  if (!parsed.ok) return [];
  return deps === null ? parsed.value.warnings : await warningsOf(deps, whole, parsed.value.document);
}

function nameOf(draft: JsonObject): string {
  return typeof draft['name'] === 'string' ? draft['name'] : 'without a name';
}

/** A draft in its stored form, and which of its members the author has given. */
interface ReadDraft {
  readonly document: SequenceDocument;
  readonly contentHash: string;
  readonly isVersionGiven: boolean;
  readonly isIdGiven: boolean;
}

function readDraft(
  { clock }: Pick<PublishDraftsDeps, 'clock'>,
  draft: JsonObject,
): Result<ReadDraft, string> {
  const parsed = parseSequence(wholeDraft(clock, draft));
  if (parsed.ok) {
    const { document } = parsed.value;
    const isVersionGiven = draft['version'] !== undefined;
    return ok({
      document,
      contentHash: contentHashOf(document),
      isVersionGiven,
      isIdGiven: draft['id'] !== undefined,
    });
  }
  const problems = parsed.error.details.map(
    ({ path, message }) => `${path === '' ? 'document' : path}: ${message}`,
  );
  return err(problems.length === 0 ? parsed.error.message : problems.join('; '));
}

/** With placeholders for what an author leaves out. */
function wholeDraft(clock: PublishDraftsDeps['clock'], draft: JsonObject): JsonObject {
  const createdAt = new Date(clock.nowMs()).toISOString();
  const placeholder = '00000000-0000-8000-8000-000000000000';
  return { namespace: 'default', created_at: createdAt, version: 1, id: placeholder, ...draft };
}

async function publishDraft(
  deps: PublishDraftsDeps,
  draft: ReadDraft,
  deployedAt: number | null,
  taken: Set<string>,
): Promise<Outcome> {
  const problem = takeName(taken, draft);
  if (problem !== null) return { outcome: 'refused', problem };
  return draft.isVersionGiven ? publishNumbered(deps, draft) : publishNewest(deps, draft, deployedAt);
}

/** One draft a name, or a name and version. Null: this is the first. */
function takeName(taken: Set<string>, { document, isVersionGiven }: ReadDraft): string | null {
  const { tenant_id: tenantId, namespace, name, version } = document;
  const key = JSON.stringify([tenantId, namespace, name, isVersionGiven ? version : null]);
  if (taken.has(key)) return 'the deployment brings another one of this name';
  taken.add(key);
  return null;
}

async function publishNewest(
  { store }: PublishDraftsDeps,
  draft: ReadDraft,
  deployedAt: number | null,
): Promise<Outcome> {
  const { document, contentHash } = draft;
  const name = { tenantId: document.tenant_id, namespace: document.namespace, name: document.name };
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const newest = await store.findSequence({ ...name, version: 'newest' });
    const newestSeen = newest?.version ?? null;
    const version = (newestSeen ?? 0) + 1;
    // One that was deprecated since is not what the name means.
    const isThere = newest?.deprecated === false && hasContent(newest, contentHash);
    const sequence = isThere ? null : newSequence({ ...draft, version });
    const answer = await store.publishDeployed({ ...name, sequence, newestSeen, contentHash, deployedAt });
    switch (answer) {
      case 'published':
        return { outcome: 'published', version };
      case 'known':
      case 'superseded':
        return { outcome: answer };
      case 'id_exists':
        return { outcome: 'refused', problem: `id ${document.id} is there with another content` };
      case 'moved':
    }
  }
  return { outcome: 'refused', problem: 'others publish under this name all the time' };
}

async function publishNumbered({ store }: PublishDraftsDeps, draft: ReadDraft): Promise<Outcome> {
  const { document, contentHash } = draft;
  const { tenant_id: tenantId, namespace, name, version } = document;
  const answer = await store.insertSequence(newSequence({ ...draft, version }));
  if (answer === 'created') return { outcome: 'published', version };
  const there = await store.findSequence({ tenantId, namespace, name, version });
  if (hasContent(there, contentHash)) return { outcome: 'known' };
  const taken = there === null ? `id ${document.id}` : `version ${version}`;
  return { outcome: 'refused', problem: `${taken} is there with another content` };
}

function newSequence(draft: ReadDraft & { readonly version: number }): NewSequence {
  const { version, contentHash } = draft;
  const { tenant_id: tenantId, namespace, name, status, deprecated } = draft.document;
  const id = draft.isIdGiven ? draft.document.id : idOf(tenantId, version, contentHash);
  const definition = serialiseSequence({ ...draft.document, id, version });
  return {
    id,
    tenantId,
    namespace,
    name,
    version,
    status,
    deprecated,
    definition,
    contentHash: sha256Hex(canonicalJson(definition)),
  };
}

/** A stored document is read like a draft, so that defaults which were added since make no difference. */
function hasContent(sequence: SequenceRecord | null, contentHash: string): boolean {
  if (sequence === null) return false;
  const parsed = parseSequence(sequence.definition);
  return parsed.ok && contentHashOf(parsed.value.document) === contentHash;
}

/** Of what the author writes. What an operator does to a version later is in its row and not in its document. */
function contentHashOf(document: SequenceDocument): string {
  const { id: _id, version: _version, created_at: _createdAt, ...content } = serialiseSequence(document);
  return sha256Hex(canonicalJson(content));
}

/** A UUID of version 8: the same for the same version of the same content. */
function idOf(tenantId: string, version: number, contentHash: string): string {
  const hex = sha256Hex(canonicalJson([tenantId, version, contentHash]));
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join('-');
}
