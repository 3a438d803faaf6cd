import { type References, templateReferences } from '../../expressions/references.ts';
import { resolveTemplates } from '../../expressions/template.ts';
import type { Json } from '../../json.ts';
import type { Result } from '../../result.ts';
import type { Draft } from '../draft.ts';
import { ROOT_PLACE, scopeAt } from '../place.ts';
import type { Invocation } from './invocation.ts';

/** What has to be known before the params of an invocation can be resolved. */
export function invocationReferences({ interceptor }: Invocation): References {
  return templateReferences(interceptor.params ?? null);
}

/** [INT-5]: the params, with the roots `step`, `signal` and `instance` beside the usual ones. An error is a text. */
export function invocationParams(draft: Draft, { interceptor, roots }: Invocation): Result<Json, string> {
  const own = { ...roots, instance: { id: draft.record.id } };
  const scope = { ...scopeAt(draft, ROOT_PLACE), roots: new Map<string, Json>(Object.entries(own)) };
  const resolved = resolveTemplates(interceptor.params ?? {}, scope);
  return resolved.ok ? resolved : { ok: false, error: resolved.error.message };
}
