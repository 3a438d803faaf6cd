import { ok, type Result } from '../core/result.ts';
import type { SequenceStatus } from '../core/definition/document.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** From a status to the ones it may become ([VER-2]). */
const NEXT_STATUS: Readonly<Record<SequenceStatus, readonly SequenceStatus[]>> = {
  draft: ['staging', 'unpublished'],
  staging: ['production', 'unpublished'],
  production: ['unpublished'],
  unpublished: [],
};

/** Hides a version from look-up by name; repeating it changes nothing ([VER-3]). 404 unknown. */
export async function deprecateSequence(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
): Promise<Result<null, Refusal>> {
  return (await deps.store.deprecateSequence(caller.tenantId, id)) ? ok(null) : notFound('sequence', id);
}

/** Moves a version to another status ([VER-2]). 404 unknown, 400 not allowed, 409 when somebody else just moved it. */
export async function setSequenceStatus(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
  to: SequenceStatus,
): Promise<Result<null, Refusal>> {
  const sequence = await deps.store.getSequence(caller.tenantId, id);
  if (sequence === null) return notFound('sequence', id);
  if (!NEXT_STATUS[sequence.status].includes(to)) {
    return refuse('invalid_argument', `a sequence cannot go from ${sequence.status} to ${to}`, {
      code: 'illegal_transition',
    });
  }
  const answer = await deps.store.setSequenceStatus(caller.tenantId, id, sequence.status, to);
  if (answer === 'not_found') return notFound('sequence', id);
  return answer === 'changed'
    ? ok(null)
    : refuse('conflict', `the status of sequence ${id} was just changed`);
}

/** Removes a version with its terminal instances ([VER-5]). 404 unknown, 409 while an instance may still need it. */
export async function deleteSequence(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
): Promise<Result<null, Refusal>> {
  const answer = await deps.store.deleteSequence(caller.tenantId, id);
  if (answer === 'not_found') return notFound('sequence', id);
  if (answer === 'deleted') return ok(null);
  return refuse('conflict', `sequence ${id} is used by instances that have not ended`, {
    code: 'sequence_in_use',
  });
}
