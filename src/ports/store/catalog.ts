import type { Json, JsonObject } from '../../core/json.ts';

/** Published sequences and triggers. A definition is immutable but for status and deprecated ([VER-1]). */
export interface CatalogStore {
  /** [PUB-5], [PUB-6]: one write; `exists` names what clashed. */
  insertSequence(sequence: NewSequence): Promise<'created' | 'id_exists' | 'version_exists'>;
  /** One sequence of a deployment becomes the newest version of its name, unless that is not this deployment's to do. */
  publishDeployed(sequence: DeployedSequence): Promise<DeployedAnswer>;
  getSequence(tenantId: string | null, id: string): Promise<SequenceRecord | null>;
  /** [VER-4]: without version the highest that is not deprecated, whatever its status; `newest` is the highest of all. */
  findSequence(name: SequenceName & { readonly version: WantedVersion }): Promise<SequenceRecord | null>;
  /** Order: tenant, namespace, name, version descending. */
  listSequences(query: {
    readonly tenantId: string | null;
    readonly namespace: string | null;
    /** Absent or null: any. */
    readonly name?: string | null;
    readonly limit: number;
    readonly offset: number;
  }): Promise<readonly SequenceRecord[]>;
  /** Non-deprecated versions, highest first. */
  listVersions(name: SequenceName): Promise<readonly SequenceRecord[]>;
  deprecateSequence(tenantId: string | null, id: string): Promise<boolean>;
  /** Compare-and-set on the present status; `unpublished` also deprecates ([VER-2]). */
  setSequenceStatus(
    tenantId: string | null,
    id: string,
    from: string,
    to: string,
  ): Promise<'changed' | 'not_found' | 'stale'>;
  /** [VER-5]: refused while a non-terminal instance uses it; takes its terminal instances and all their rows along. */
  deleteSequence(tenantId: string | null, id: string): Promise<'deleted' | 'not_found' | 'in_use'>;
  insertTrigger(trigger: NewTrigger): Promise<'created' | 'exists'>;
  /** Slugs are unique over all tenants; `tenantId` null finds any (public webhook). */
  getTrigger(tenantId: string | null, slug: string): Promise<TriggerRecord | null>;
  /** Order: created_at, slug (http-api.md 12.1). */
  listTriggers(tenantId: string | null, limit: number): Promise<readonly TriggerRecord[]>;
  deleteTrigger(tenantId: string | null, slug: string): Promise<boolean>;
}

export type WantedVersion = number | 'newest' | null;

export interface SequenceName {
  readonly tenantId: string;
  readonly namespace: string;
  readonly name: string;
}

export interface NewSequence extends SequenceName {
  readonly id: string;
  readonly version: number;
  readonly status: 'draft' | 'staging' | 'production' | 'unpublished';
  readonly deprecated: boolean;
  /** The stored document, as it is given back (plus status and deprecated of the row). */
  readonly definition: JsonObject;
  /** SHA-256 of the canonical JSON of the definition, hex. */
  readonly contentHash: string;
}

/** What a deployment brings under one name (docs/decisions/0019). */
export interface DeployedSequence extends SequenceName {
  /** The next version; null: the name means this content already, and only the deployment is noted. */
  readonly sequence: NewSequence | null;
  /** Number of the newest version, with which the content was compared; null: there was none. */
  readonly newestSeen: number | null;
  /** The same for the same content, whatever its id, version and instant; hex. */
  readonly contentHash: string;
  /** When the deployment was made, epoch ms; null: now, and after all others. */
  readonly deployedAt: number | null;
}

/**
 * `known`: this deployment was noted before, or brings what the one before it brought, or what the name means already.
 * `superseded`: a later deployment was noted. `moved`: the newest version is another one than was seen; look again.
 * `id_exists`: the id is taken by a version. The last three publish nothing and note nothing.
 */
export type DeployedAnswer = 'published' | 'known' | 'superseded' | 'moved' | 'id_exists';

/** What was noted of the last deployment of a name. */
export interface DeploymentNote {
  readonly deployedAt: number;
  readonly contentHash: string;
}

export interface SequenceRecord extends NewSequence {
  readonly createdAt: number;
}

export interface NewTrigger {
  readonly slug: string;
  readonly tenantId: string;
  readonly namespace: string;
  readonly sequenceName: string;
  readonly version: number | null;
  readonly enabled: boolean;
  readonly secret: string | null;
  readonly triggerType: 'webhook' | 'event' | 'nats' | 'file_watch' | 'activepieces_poll';
  readonly config: Json;
}

export interface TriggerRecord extends NewTrigger {
  readonly createdAt: number;
  readonly updatedAt: number;
}
