import type { ContextSections } from '../core/run/record.ts';
import { ok, type Result } from '../core/result.ts';
import { notFound, type Refusal } from './refusal.ts';
import { contextTooLarge } from './start-instances.ts';
import { nudgeAccepted, type Caller, type UseCaseDeps } from './use-case.ts';

export interface ContextPatch {
  readonly instanceId: string;
  readonly sections: ContextSections;
  /** `replace`: each given section as a whole. `merge`: per top-level key ([CTX-3], [CTX-4]). */
  readonly mode: 'replace' | 'merge';
}

/** Changes the context of an instance in any state; takes effect before its next leaf. 404 unknown, 413 too large. */
export async function patchContext(
  deps: UseCaseDeps,
  caller: Caller,
  patch: ContextPatch,
): Promise<Result<null, Refusal>> {
  const target = { tenantId: caller.tenantId, instanceId: patch.instanceId };
  const { maxContextBytes } = deps.limits;
  const answer = await deps.store.patchContext({
    ...target,
    factId: deps.ids.newId(),
    sections: patch.sections,
    mode: patch.mode,
    maxContextBytes,
  });
  switch (answer) {
    case 'not_found':
      return notFound('instance', patch.instanceId);
    case 'too_large':
      return { ok: false, error: contextTooLarge(null, maxContextBytes) };
    case 'applied':
      return ok(null);
    case 'accepted':
      await nudgeAccepted(deps, target);
      return ok(null);
  }
}
