import { parseSequence, type Warning } from '../core/definition/parse-sequence.ts';
import { serialiseSequence } from '../core/definition/serialise.ts';
import { documentLists, walkBlocks } from '../core/definition/walk.ts';
import type { SequenceDocument } from '../core/definition/document.ts';
import { sha256Hex } from '../core/digest.ts';
import { canonicalJson, member, type Json } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import { LIVE_WITHIN } from './live-names.ts';
import { refuse, type Refusal, type Refused } from './refusal.ts';
import { refuseDocument } from './refuse-document.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface Published {
  readonly id: string;
  readonly warnings: readonly Warning[];
}

/**
 * Publishes one version of a sequence (sequences.md 3.1): shape (422), tenant (403, 400), limits and schemas (400),
 * uniqueness (409). A refused document leaves nothing behind.
 */
export async function publishSequence(
  deps: UseCaseDeps,
  caller: Caller,
  body: Json,
): Promise<Result<Published, Refusal>> {
  const parsed = parseSequence(body);
  if (!parsed.ok && parsed.error.status === 422) return refuseDocument(parsed.error);
  const named = parsed.ok ? parsed.value.document.tenant_id : member(body, 'tenant_id');
  // Bounds are looked at before the shape, so the tenant of a huge document may be of any type.
  const tenantId = typeof named === 'string' ? tenantOf(caller, named) : ok('');
  if (!tenantId.ok) return tenantId;
  if (!parsed.ok) return refuseDocument(parsed.error);
  const { document } = parsed.value;
  if (document.tenant_id.length > 255)
    return refuse('invalid_argument', 'tenant_id must not exceed 255 characters');
  const clash = await insert(deps, document);
  if (clash !== null) return clash;
  return ok({ id: document.id, warnings: await warningsOf(deps, body, document) });
}

async function insert(deps: UseCaseDeps, document: SequenceDocument): Promise<Refused | null> {
  const definition = serialiseSequence(document);
  const answer = await deps.store.insertSequence({
    id: document.id,
    tenantId: document.tenant_id,
    namespace: document.namespace,
    name: document.name,
    version: document.version,
    status: document.status,
    deprecated: document.deprecated,
    definition,
    contentHash: sha256Hex(canonicalJson(definition)),
  });
  switch (answer) {
    case 'created':
      return null;
    case 'id_exists':
      return refuse('already_exists', `sequence ${document.id}`, { code: 'sequence_id_exists' });
    case 'version_exists':
      return refuse('already_exists', `version ${document.version} of sequence ${document.name}`, {
        code: 'sequence_version_exists',
      });
  }
}

/** What a publish needs to know which handlers there are. */
export interface WarningDeps {
  readonly store: Pick<UseCaseDeps['store'], 'listLiveHandlers'>;
  readonly handlerNames: UseCaseDeps['handlerNames'];
}

/** The warnings again, now with the names that some live process or worker has (RULINGS B8). */
export async function warningsOf(
  deps: WarningDeps,
  body: Json,
  document: SequenceDocument,
): Promise<readonly Warning[]> {
  const known = new Set<string>(deps.handlerNames);
  if (handlersOf(document).some((name) => !known.has(name))) {
    const { announced, polled } = await deps.store.listLiveHandlers(LIVE_WITHIN);
    for (const name of [...announced, ...polled]) known.add(name);
  }
  const parsed = parseSequence(body, { knownHandlers: known });
  return parsed.ok ? parsed.value.warnings : [];
}

function handlersOf(document: SequenceDocument): readonly string[] {
  const names = new Set<string>();
  for (const { blocks } of documentLists(document)) {
    for (const { block } of walkBlocks(blocks)) {
      if (block.type === 'step') names.add(block.handler);
    }
  }
  return [...names];
}
