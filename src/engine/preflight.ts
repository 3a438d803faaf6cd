import type { SequenceDocument } from '../core/definition/document.ts';
import { type ReadDraft, readDraft } from '../core/definition/read-draft.ts';
import { type Json, member } from '../core/json.ts';
import {
  CHECK_IDS,
  type CheckStatus,
  overallOf,
  type PreflightCheck,
  unknownCheck,
} from '../core/preflight/check.ts';
import { documentUses } from '../core/preflight/document-uses.ts';
import {
  dataflowCheck,
  definitionCheck,
  inputSchemaCheck,
  lintCheck,
  outputSchemasCheck,
  whenGuardsCheck,
} from '../core/preflight/static-checks.ts';
import { pluginsCheck } from '../core/preflight/surroundings-checks.ts';
import { ok, type Result } from '../core/result.ts';
import { surroundingsChecks } from './preflight-surroundings.ts';
import { refuseDocument } from './refuse-document.ts';
import { notFound, type Refusal } from './refusal.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface Preflight {
  readonly sequenceName: string;
  readonly sequenceVersion: number;
  readonly overall: CheckStatus;
  /** All checks, in the order of the contract. */
  readonly checks: readonly PreflightCheck[];
  readonly generatedAt: number;
}

/**
 * Says whether a draft could run here (http-api.md 4.1): its own faults, and what it needs of workers, queues,
 * credentials and other sequences. 422 shape, 403 tenant of another caller; nothing is stored.
 */
export async function preflightDraft(
  deps: UseCaseDeps,
  caller: Caller,
  body: Json,
): Promise<Result<Preflight, Refusal>> {
  const draft = readDraft(body);
  if (!draft.ok) return refuseDocument(draft.error);
  const named = draft.value.document?.tenant_id ?? member(body, 'tenant_id');
  const tenant = typeof named === 'string' ? tenantOf(caller, named) : ok('');
  if (!tenant.ok) return tenant;
  return ok(await preflight(deps, draft.value));
}

/** The same for a stored version. 404 unknown. */
export async function preflightStored(
  deps: UseCaseDeps,
  caller: Caller,
  sequenceId: string,
): Promise<Result<Preflight, Refusal>> {
  const record = await deps.store.getSequence(caller.tenantId, sequenceId);
  const draft = record === null ? null : readDraft(record.definition);
  if (draft?.ok !== true) return notFound('sequence', sequenceId);
  return ok(await preflight(deps, draft.value));
}

async function preflight(deps: UseCaseDeps, draft: ReadDraft): Promise<Preflight> {
  const { document, name, version, problems } = draft;
  const generatedAt = deps.clock.nowMs();
  const definition = definitionCheck(name, problems);
  const checks =
    document === null
      ? [
          definition,
          ...CHECK_IDS.slice(1).map((id) => unknownCheck(id, 'the document is too large to be read')),
        ]
      : [definition, ...(await otherChecks(deps, document, draft, generatedAt))];
  const overall = overallOf(checks);
  return { sequenceName: name, sequenceVersion: version, overall, checks, generatedAt };
}

async function otherChecks(
  deps: UseCaseDeps,
  document: SequenceDocument,
  { warnings }: ReadDraft,
  now: number,
): Promise<readonly PreflightCheck[]> {
  const uses = documentUses(document);
  const { handlers, credentials, queues, sequences } = await surroundingsChecks(deps, document, uses, now);
  return [
    lintCheck(document.name, warnings),
    inputSchemaCheck(document),
    outputSchemasCheck(document),
    dataflowCheck(document),
    whenGuardsCheck(document),
    handlers,
    pluginsCheck(uses),
    credentials,
    queues,
    sequences,
  ];
}
