import type { IdSource } from '../../engine/ids.ts';
import type { Clock } from '../../ports/system.ts';
import type { SequenceDraft } from '../sequence-draft.ts';

interface Filling<Options> {
  readonly ids: IdSource;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly tenant: string | null;
  /** The newest version of a name, deprecated or not; empty when there is none. */
  readonly newest: (
    name: { readonly name: string; readonly namespace: string; readonly tenant_id: string },
    options: Options,
  ) => Promise<readonly { readonly version: number }[]>;
}

/** A draft with what a server wants to be told: id, time, namespace `default`, the client's tenant, the next version. */
export async function filledIn<Options>(
  { ids, clock, tenant, newest }: Filling<Options>,
  draft: SequenceDraft,
  options: Options,
): Promise<SequenceDraft & { readonly id: string; readonly version: number }> {
  const tenant_id = draft.tenant_id ?? tenant ?? '';
  const { name, namespace = 'default' } = draft;
  const known = draft.version === undefined ? await newest({ name, namespace, tenant_id }, options) : [];
  const version = draft.version ?? (known[0]?.version ?? 0) + 1;
  const id = draft.id ?? ids.newId();
  const created_at = new Date(clock.nowMs()).toISOString();
  return { created_at, ...draft, namespace, id, tenant_id, version };
}
