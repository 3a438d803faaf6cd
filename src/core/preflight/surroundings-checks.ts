import { shorten } from '../definition/path.ts';
import { isAtLeast } from '../worker-versions.ts';
import { checked, counted, type PreflightCheck, type PreflightFinding } from './check.ts';
import type { DocumentUses, UsedQueue, UsedSequence } from './document-uses.ts';

/** A worker that has polled within 120 s. */
export interface LiveWorker {
  readonly handlers: readonly string[];
  /** Queues that it asks by name; none when it takes tasks of any. */
  readonly queues: readonly string[];
  readonly version: string | null;
}

export interface Workers {
  /** Handlers that a live process runs itself. */
  readonly inProcess: ReadonlySet<string>;
  /** Handlers that a worker has asked for within 120 s. */
  readonly polled: ReadonlySet<string>;
  readonly workers: readonly LiveWorker[];
  /** The least version by handler. */
  readonly pins: ReadonlyMap<string, string>;
}

type Finding = Omit<PreflightFinding, 'confidence'>;

const sure = (finding: Finding): PreflightFinding => ({ ...finding, confidence: 'high' });

/** `handlers_have_workers`: every handler runs in a live process or is served by a live worker of a version that may. */
export function handlersCheck({ handlers }: DocumentUses, workers: Workers): PreflightCheck {
  const findings = handlers.flatMap((name) => handlerFindings(name, workers));
  return checked('handlers_have_workers', findings, {
    clean: 'every handler is served',
    found: (count) => counted(count, 'handler has no live worker', 'handlers have no live worker'),
  });
}

function handlerFindings(name: string, all: Workers): readonly PreflightFinding[] {
  if (all.inProcess.has(name)) return [];
  const affected = { kind: 'handler', id: name } as const;
  const serving = all.polled.has(name) ? all.workers.filter(({ handlers }) => handlers.includes(name)) : [];
  if (serving.length === 0) {
    const summary = `handler '${shorten(name)}' has no live worker`;
    const remedy = 'Start a worker that serves this handler.';
    return [sure({ code: 'NO_COMPATIBLE_WORKER', severity: 'error', summary, affected, remedy })];
  }
  const pin = all.pins.get(name);
  if (pin === undefined || serving.some(({ version }) => version !== null && isAtLeast(version, pin)))
    return [];
  const summary = `handler '${shorten(name)}' is pinned to version ${shorten(pin)}, and all its live workers are below it`;
  const remedy = 'Start workers of that version, or lower the pin.';
  return [sure({ code: 'WORKER_BELOW_VERSION_PIN', severity: 'error', summary, affected, remedy })];
}

/** `plugins_enabled`: this version runs no plugins, so none is enabled. */
export function pluginsCheck({ plugins }: DocumentUses): PreflightCheck {
  const findings = plugins.map((name) =>
    sure({
      code: 'PLUGIN_DISABLED',
      severity: 'error',
      summary: `plugin '${shorten(name)}' is not enabled`,
      affected: { kind: 'plugin', id: name },
      remedy: 'Use a handler of a worker or of your own process in its place.',
    }),
  );
  return checked('plugins_enabled', findings, {
    clean: plugins.length === 0 ? 'no plugin is used' : 'every plugin is enabled',
    found: (count) => counted(count, 'plugin is not enabled', 'plugins are not enabled'),
  });
}

export interface KnownCredential {
  readonly enabled: boolean;
  readonly expiresAt: number | null;
}

/** `credentials_present`. `credentials` has those that are there. */
export function credentialsCheck(
  uses: DocumentUses,
  credentials: ReadonlyMap<string, KnownCredential>,
  now: number,
): PreflightCheck {
  const findings = uses.credentials.flatMap((id) => credentialFindings(id, credentials.get(id), now));
  return checked('credentials_present', findings, {
    clean: uses.credentials.length === 0 ? 'no credential is named' : 'every credential is usable',
    found: (count) => counted(count, 'credential is not usable', 'credentials are not usable'),
  });
}

function credentialFindings(
  id: string,
  credential: KnownCredential | undefined,
  now: number,
): readonly PreflightFinding[] {
  const find = (
    code: PreflightFinding['code'],
    state: string,
    remedy: string,
  ): readonly PreflightFinding[] => {
    const summary = `credential '${shorten(id)}' ${state}`;
    return [sure({ code, severity: 'error', summary, affected: { kind: 'credential', id }, remedy })];
  };
  if (credential === undefined)
    return find('CREDENTIAL_MISSING', 'does not exist', 'Create it under this id.');
  if (!credential.enabled) return find('CREDENTIAL_DISABLED', 'is disabled', 'Enable it.');
  if (credential.expiresAt === null || credential.expiresAt > now) return [];
  return find('CREDENTIAL_EXPIRED', 'has expired', 'Give it a new value and a later expiry.');
}

/** `queues_consumable`. A worker that polls without a queue takes tasks of every queue. */
export function queuesCheck(
  { queues }: DocumentUses,
  { workers }: Workers,
  routed: (used: UsedQueue) => string,
): PreflightCheck {
  const lonely = new Set(
    queues
      .filter((used) => !workers.some((worker) => consumes(worker, used.handler, routed(used))))
      .map((used) => routed(used)),
  );
  const findings = [...lonely].map((queue) =>
    sure({
      code: 'QUEUE_HAS_NO_CONSUMER',
      severity: 'warning',
      summary: `no live worker takes tasks from queue '${shorten(queue)}'`,
      affected: { kind: 'queue', id: queue },
      remedy: 'Start a worker that polls this queue.',
    }),
  );
  return checked('queues_consumable', findings, {
    clean: queues.length === 0 ? 'no queue is named' : 'every queue has a consumer',
    found: (count) => counted(count, 'queue has no consumer', 'queues have no consumer'),
  });
}

function consumes({ handlers, queues }: LiveWorker, handler: string, queue: string): boolean {
  return handlers.includes(handler) && (queues.length === 0 || queues.includes(queue));
}

/** What is there of a sequence that a block starts. */
export type SequenceAvailability = 'available' | 'missing' | 'unpublished' | 'draft_only';

/** `sub_sequences_available`. */
export function subSequencesCheck(
  found: readonly { readonly used: UsedSequence; readonly availability: SequenceAvailability }[],
): PreflightCheck {
  const findings = found.flatMap(({ used, availability }) => sequenceFindings(used, availability));
  return checked('sub_sequences_available', findings, {
    clean: found.length === 0 ? 'no sub-sequence is started' : 'every sub-sequence is available',
    found: (count) => counted(count, 'sub-sequence is not available', 'sub-sequences are not available'),
  });
}

function sequenceFindings(
  { name, version }: UsedSequence,
  availability: SequenceAvailability,
): readonly PreflightFinding[] {
  const find = (
    code: PreflightFinding['code'],
    state: string,
    remedy: string,
  ): readonly PreflightFinding[] => {
    const summary = `sequence '${shorten(name)}'${version === null ? '' : ` version ${version}`} ${state}`;
    return [sure({ code, severity: 'error', summary, affected: { kind: 'sequence', id: name }, remedy })];
  };
  switch (availability) {
    case 'available':
      return [];
    case 'missing':
      return find('SUB_SEQUENCE_MISSING', 'does not exist in this namespace', 'Publish it first.');
    case 'unpublished':
      return find('SUB_SEQUENCE_UNPUBLISHED', 'is unpublished', 'Publish a new version of it.');
    case 'draft_only':
      return find(
        'SUB_SEQUENCE_DRAFT_ONLY',
        'is there as a draft only',
        'Move a version of it to staging or production.',
      );
  }
}
