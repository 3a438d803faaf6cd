import type { IdSource } from '../../engine/ids.ts';
import type { Clock } from '../../ports/system.ts';
import type { SequenceDraft } from '../sequence-draft.ts';

interface Filling<Options> {
  readonly ids: IdSource;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly tenant: string | null;
  /** The versions of a name that are not deprecated. */
  readonly versions: (
    name: { readonly name: string; readonly namespace?: string; readonly tenant_id: string },
    options: Options,
  ) => Promise<readonly { readonly version: number }[]>;
}

/** A draft with what a server wants to be told: id, time, namespace `default`, the client's tenant, the next version. */
export async function filledIn<Options>(
  { ids, clock, tenant, versions }: Filling<Options>,
  draft: SequenceDraft,
  options: Options,
): Promise<SequenceDraft & { readonly id: string; readonly version: number }> {
  const tenant_id = draft.tenant_id ?? tenant ?? '';
  const known = draft.version === undefined ? await versions({ ...draft, tenant_id }, options) : [];
  const version = draft.version ?? Math.max(0, ...known.map((sequence) => sequence.version)) + 1;
  const id = draft.id ?? ids.newId();
  const created_at = new Date(clock.nowMs()).toISOString();
  return { created_at, namespace: 'default', ...draft, id, tenant_id, version };
}
