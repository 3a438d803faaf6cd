import { ok, type Result } from '../core/result.ts';
import type { SequenceRecord } from '../ports/store/catalog.ts';
import { notFound, type Refusal } from './refusal.ts';
import { deleteSequence, setSequenceStatus } from './sequence-lifecycle.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** Both calls look at no other namespace (http-api.md 3.5), and at this tenant where the call has none. */
const NAMESPACE = 'default';
const TENANT = 'default';

/** Moves the newest version of a name to `production`. 404 unknown name, 400 when its status cannot go there. */
export async function promoteSequence(
  deps: UseCaseDeps,
  caller: Caller,
  name: string,
): Promise<Result<{ readonly id: string; readonly version: number }, Refusal>> {
  const sequence = await newestOf(deps, caller, name);
  if (sequence === null) return notFound('sequence', name);
  const { id, version } = sequence;
  const moved = await setSequenceStatus(deps, ownerOf(sequence), id, 'production');
  return moved.ok ? ok({ id, version }) : moved;
}

/**
 * Takes the newest version of a name out of use: `unpublished` and deprecated, or deleted by the rules of a deletion. A repeat
 * changes nothing. 404 unknown name, 409 for a deletion while instances need it.
 */
export async function unpublishSequence(
  deps: UseCaseDeps,
  caller: Caller,
  name: string,
  options: { readonly isDeleted: boolean },
): Promise<Result<null, Refusal>> {
  const sequence = await newestOf(deps, caller, name);
  if (sequence === null) return notFound('sequence', name);
  if (options.isDeleted) return deleteSequence(deps, ownerOf(sequence), sequence.id);
  if (sequence.status === 'unpublished') return ok(null);
  return setSequenceStatus(deps, ownerOf(sequence), sequence.id, 'unpublished');
}

function newestOf(deps: UseCaseDeps, caller: Caller, name: string): Promise<SequenceRecord | null> {
  const tenantId = caller.tenantId ?? TENANT;
  return deps.store.findSequence({ tenantId, namespace: NAMESPACE, name, version: 'newest' });
}

function ownerOf({ tenantId }: SequenceRecord): Caller {
  return { tenantId, isAdmin: false };
}
