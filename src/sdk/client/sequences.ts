import type { SequenceStatus } from '../../core/definition/document.ts';
import type { IdSource } from '../../engine/ids.ts';
import type { Clock } from '../../ports/system.ts';
import type { SequenceDraft, StoredSequence } from '../sequence-draft.ts';
import { ApiError } from './api-error.ts';
import { filledIn } from './fill-in-draft.ts';
import { type CallOptions, segment, type Send } from './send.ts';
import { sequenceChecks } from './sequence-checks.ts';
import type { Page, Promoted, Published } from './wire.ts';

/** A version by its id, or by name: then the given version, or the newest that is not deprecated. */
export type SequenceTarget =
  | { readonly sequence_id: string; readonly sequence_name?: never; readonly version?: never }
  | { readonly sequence_id?: never; readonly sequence_name: string; readonly version?: number };

export interface SequenceName {
  readonly name: string;
  /** Default: `default`. */
  readonly namespace?: string | undefined;
  /** Default: the client's. */
  readonly tenant_id?: string | undefined;
}

export interface SequenceFilter {
  readonly namespace?: string;
  readonly name?: string;
  /** Default 200, at most 1000. */
  readonly limit?: number;
  readonly offset?: number;
}

export type PublishedSequence = Published & { readonly version: number };

export interface SequenceParts {
  readonly ids: IdSource;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly tenant: string | null;
}

export type Sequences = ReturnType<typeof sequenceCalls>;

export function sequenceCalls(send: Send, parts: SequenceParts) {
  const reads = sequenceReads(send, parts.tenant);
  return {
    /**
     * Publishes a version. What the draft leaves out is filled in: id, time, namespace `default`, the client's tenant, and
     * one version more than the newest. Safe to repeat: a version that arrived although its answer was lost is found by
     * its id.
     */
    publish: (draft: SequenceDraft, options: CallOptions = {}) => publish(send, parts, draft, options),
    ...reads,
    ...sequenceChecks(send, (draft, options) =>
      filledIn({ ...parts, newest: newestBy(reads) }, draft, options),
    ),
    /** Hides a version from look-up by name. */
    deprecate: (id: string, options: CallOptions = {}) =>
      send<undefined>(
        { method: 'POST', path: `/sequences/${segment(id)}/deprecate`, idempotent: true },
        options,
      ),
    /** Moves a version to another status. */
    setStatus: (id: string, status: SequenceStatus, options: CallOptions = {}) => {
      const path = `/sequences/${segment(id)}/status`;
      return send<undefined>({ method: 'POST', path, body: { status }, idempotent: 'by_key' }, options);
    },
    /** Moves the newest version of a name in the namespace `default` to production. */
    promote: (name: string, options: CallOptions = {}) =>
      send<Promoted>(
        { method: 'POST', path: `/sequences/${segment(name)}/promote`, idempotent: 'by_key' },
        options,
      ),
    /** Takes the newest version of a name in the namespace `default` out of use; `delete` removes it. */
    unpublish: (name: string, body: { readonly delete?: boolean } = {}, options: CallOptions = {}) => {
      const path = `/sequences/${segment(name)}/unpublish`;
      return send<undefined>({ method: 'POST', path, body, idempotent: 'by_key' }, options);
    },
    /** Deletes a version and its ended instances. */
    delete: (id: string, options: CallOptions = {}) => {
      const call = { method: 'DELETE', path: `/sequences/${segment(id)}`, idempotent: true } as const;
      return unlessGone(send<undefined>(call, options));
    },
  };
}

function sequenceReads(send: Send, tenant: string | null) {
  const read = <Answer>(path: string, query: object, options: CallOptions) =>
    send<Answer>({ method: 'GET', path, query: { ...query }, idempotent: true }, options);
  const nameQuery = ({ name, namespace = 'default', tenant_id }: SequenceName) => ({
    name,
    namespace,
    tenant_id: tenant_id ?? tenant,
  });
  return {
    get: (id: string, options: CallOptions = {}) =>
      read<StoredSequence>(`/sequences/${segment(id)}`, {}, options),
    /** A version by its name: the given one, or the newest that is not deprecated. */
    find: (name: SequenceName & { readonly version?: number | undefined }, options: CallOptions = {}) =>
      read<StoredSequence>('/sequences/by-name', { ...nameQuery(name), version: name.version }, options),
    /** The versions of a name that are not deprecated. */
    versions: (name: SequenceName, options: CallOptions = {}) =>
      read<readonly StoredSequence[]>('/sequences/versions', nameQuery(name), options),
    list: (filter: SequenceFilter = {}, options: CallOptions = {}) =>
      read<Page<StoredSequence>>('/sequences', filter, options),
  };
}

/** By the list, which has deprecated versions too: their numbers are taken. */
function newestBy({ list }: Pick<ReturnType<typeof sequenceReads>, 'list'>) {
  return async (name: SequenceFilter & { readonly tenant_id: string }, options: CallOptions) =>
    (await list({ ...name, limit: 1 }, options)).items;
}

async function publish(
  send: Send,
  parts: SequenceParts,
  draft: SequenceDraft,
  options: CallOptions,
): Promise<PublishedSequence> {
  const reads = sequenceReads(send, parts.tenant);
  const body = await filledIn({ ...parts, newest: newestBy(reads) }, draft, options);
  const { id, version } = body;
  try {
    const call = { method: 'POST', path: '/sequences', body, idempotent: true } as const;
    return { ...(await send<Published>(call, options)), version };
  } catch (error) {
    if (!(error instanceof ApiError && error.repeated && error.status === 409)) throw error;
    if (!(await isThere(reads.get(id, options)))) throw error;
    return { id, version };
  }
}

async function isThere(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** A repeated delete that finds nothing had been carried out before. */
export async function unlessGone(deleted: Promise<undefined>): Promise<undefined> {
  try {
    return await deleted;
  } catch (error) {
    if (error instanceof ApiError && error.repeated && error.status === 404) return undefined;
    throw error;
  }
}
