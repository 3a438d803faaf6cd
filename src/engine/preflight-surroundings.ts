import type { SequenceDocument } from '../core/definition/document.ts';
import { type CheckId, type PreflightCheck, unknownCheck } from '../core/preflight/check.ts';
import type { DocumentUses, UsedQueue, UsedSequence } from '../core/preflight/document-uses.ts';
import {
  credentialsCheck,
  handlersCheck,
  type KnownCredential,
  queuesCheck,
  type SequenceAvailability,
  subSequencesCheck,
  type Workers,
} from '../core/preflight/surroundings-checks.ts';
import { LIVE_WITHIN } from './live-names.ts';
import type { UseCaseDeps } from './use-case.ts';

type Deps = Pick<UseCaseDeps, 'store' | 'log' | 'handlerNames'>;

interface SurroundingsChecks {
  readonly handlers: PreflightCheck;
  readonly credentials: PreflightCheck;
  readonly queues: PreflightCheck;
  readonly sequences: PreflightCheck;
}

/** Things of one kind that are looked up one by one; what a document names beyond is not looked at. */
const LOOK_UPS_MAX = 1000;
const LOOK_UPS_AT_ONCE = 8;
/** Pins and routing rules of one tenant that are read. */
const LISTED_MAX = 10_000;

/** The checks that ask the database. Each stands alone: one whose look-up fails is unknown, and the others go on. */
export async function surroundingsChecks(
  deps: Deps,
  document: SequenceDocument,
  uses: DocumentUses,
  now: number,
): Promise<SurroundingsChecks> {
  const { tenant_id: tenantId } = document;
  const foreign = uses.handlers.some((name) => !deps.handlerNames.includes(name));
  const workers = foreign || uses.queues.length > 0 ? readWorkers(deps, tenantId) : ownWorkers(deps);
  const credentials = readCredentials(deps, tenantId, uses.credentials);
  const [handlers, found, queues, sequences] = await Promise.all([
    orUnknown(deps, 'handlers_have_workers', async () => handlersCheck(uses, await workers)),
    orUnknown(deps, 'credentials_present', async () => credentialsCheck(uses, await credentials, now)),
    orUnknown(deps, 'queues_consumable', async () => {
      const routed = await readRouting(deps, tenantId, uses.queues);
      return queuesCheck(uses, await workers, routed);
    }),
    orUnknown(deps, 'sub_sequences_available', async () =>
      subSequencesCheck(
        await inBatches(uses.sequences, async (used) => ({
          used,
          availability: await availabilityOf(deps, document, used),
        })),
      ),
    ),
  ]);
  return { handlers, credentials: found, queues, sequences };
}

async function orUnknown(
  { log }: Deps,
  id: CheckId,
  check: () => Promise<PreflightCheck>,
): Promise<PreflightCheck> {
  try {
    return await check();
  } catch (error) {
    log.warn('a preflight check could not be made', { check: id, error: String(error) });
    return unknownCheck(id, 'what this check needs could not be read');
  }
}

async function ownWorkers({ handlerNames }: Deps): Promise<Workers> {
  return { inProcess: new Set(handlerNames), polled: new Set(), workers: [], pins: new Map() };
}

async function readWorkers({ store, handlerNames }: Deps, tenantId: string): Promise<Workers> {
  const [live, workers, pins] = await Promise.all([
    store.listLiveHandlers(LIVE_WITHIN),
    store.listWorkers(tenantId, LIVE_WITHIN.polledWithinMs, false),
    store.listVersionPins(tenantId, LISTED_MAX),
  ]);
  return {
    inProcess: new Set([...handlerNames, ...live.announced]),
    polled: new Set(live.polled),
    workers,
    pins: new Map(pins.map(({ handlerName, minVersion }) => [handlerName, minVersion])),
  };
}

async function readCredentials(
  { store }: Deps,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownCredential>> {
  const found = await inBatches(ids, async (id) => ({ id, record: await store.getCredential(tenantId, id) }));
  return new Map(found.flatMap(({ id, record }) => (record === null ? [] : [[id, record] as const])));
}

/** Which queue a task goes to once the routing rules have been asked (http-api.md 20). */
async function readRouting(
  { store }: Deps,
  tenantId: string,
  queues: readonly UsedQueue[],
): Promise<(used: UsedQueue) => string> {
  if (queues.length === 0) return ({ queue }) => queue;
  const rules = await store.listRoutingRules(tenantId, LISTED_MAX);
  return ({ handler, queue }) =>
    rules.find(
      (rule) =>
        rule.enabled &&
        rule.handlerName === handler &&
        (rule.matchQueue === null || rule.matchQueue === queue),
    )?.queueOverride ?? queue;
}

/** A sequence that starts itself is there once it is published. */
async function availabilityOf(
  { store }: Deps,
  document: SequenceDocument,
  { name, version }: UsedSequence,
): Promise<SequenceAvailability> {
  const { tenant_id: tenantId, namespace } = document;
  if (name === document.name && (version ?? document.version) === document.version) return 'available';
  const record = await store.findSequence({ tenantId, namespace, name, version });
  if (record !== null && record.status === 'unpublished') return 'unpublished';
  if (record !== null && record.status !== 'draft') return 'available';
  if (record !== null) return version === null ? olderThanDraft({ store }, document, name) : 'draft_only';
  if (version !== null) return 'missing';
  const newest = await store.findSequence({ tenantId, namespace, name, version: 'newest' });
  return newest === null ? 'missing' : 'unpublished';
}

/** The newest version is a draft, and would be started; what counts is whether there is any other to start. */
async function olderThanDraft(
  { store }: Pick<Deps, 'store'>,
  { tenant_id: tenantId, namespace }: SequenceDocument,
  name: string,
): Promise<SequenceAvailability> {
  const versions = await store.listVersions({ tenantId, namespace, name });
  return versions.every(({ status }) => status === 'draft') ? 'draft_only' : 'available';
}

/** At most so many look-ups, a few at a time, in order. */
async function inBatches<T, R>(items: readonly T[], lookUp: (item: T) => Promise<R>): Promise<readonly R[]> {
  const found: R[] = [];
  const looked = items.slice(0, LOOK_UPS_MAX);
  for (let from = 0; from < looked.length; from += LOOK_UPS_AT_ONCE) {
    found.push(...(await Promise.all(looked.slice(from, from + LOOK_UPS_AT_ONCE).map(lookUp))));
  }
  return found;
}
