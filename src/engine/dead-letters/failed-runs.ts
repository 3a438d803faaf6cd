import { type Fingerprint, fingerprintOf } from '../../core/dead-letters/fingerprint.ts';
import type { InstancePage, InstancePlace, ListInstancesQuery } from '../../ports/store/instance-lists.ts';
import type { InstanceView } from '../../ports/store/reads.ts';
import type { UseCaseDeps } from '../use-case.ts';

/** A failed instance with what it failed of. */
export interface DeadLetter {
  readonly instance: InstanceView;
  readonly sequenceName: string;
  readonly handler: string | null;
  readonly fingerprint: Fingerprint;
}

/** Failed instances, newest change first ([15.7], http-api.md 9). The states of the query are not looked at. */
export async function listDeadLetters(
  deps: UseCaseDeps,
  query: Omit<ListInstancesQuery, 'states'>,
): Promise<readonly DeadLetter[]> {
  const instances = await deps.store.listInstances({ ...query, states: ['failed'] });
  const letters: DeadLetter[] = [];
  for (const instance of instances) letters.push(await deadLetterOf(deps, instance));
  return letters;
}

/** A failed instance without what it was given, so that hundreds may be held at once. */
export interface FailedRun extends Omit<DeadLetter, 'instance'> {
  readonly id: string;
  readonly failedAt: number;
  readonly blockId: string | null;
  readonly message: string;
}

/** Bytes of instances that are read at once; of one that is larger by itself, it alone. */
const READ_AT_ONCE = 2 * 1024 * 1024;

/** The newest failed instances, at most `limit`, newest change first. */
export async function listFailedRuns(
  deps: UseCaseDeps,
  { tenantId, sequenceId }: Pick<ListInstancesQuery, 'tenantId' | 'sequenceId'>,
  limit: number,
): Promise<readonly FailedRun[]> {
  const query = {
    tenantId,
    sequenceId,
    namespace: null,
    metadata: [],
    states: ['failed'],
    offset: 0,
  } as const;
  const runs: FailedRun[] = [];
  for (let after: InstancePlace | null = null; ; ) {
    const asked = { ...query, after, limit: limit - runs.length };
    const { items, hasMore }: InstancePage = await deps.store.pageInstances(asked, READ_AT_ONCE);
    for (const instance of items) runs.push(failedRunOf(await deadLetterOf(deps, instance)));
    const last = items.at(-1);
    if (last === undefined || !hasMore || runs.length >= limit) return runs;
    after = { at: last.updatedAt, id: last.id };
  }
}

function failedRunOf({ instance, ...rest }: DeadLetter): FailedRun {
  const { id, updatedAt: failedAt, failure } = instance;
  const message = failure?.error['message'];
  return {
    ...rest,
    ...{ id, failedAt, blockId: failure?.blockId ?? null },
    message: typeof message === 'string' ? message : '',
  };
}

async function deadLetterOf(deps: UseCaseDeps, instance: InstanceView): Promise<DeadLetter> {
  // Definitions are kept in memory: runs of one version are read once.
  const plan = await deps.definitions.planOf(instance);
  const blockId = instance.failure?.blockId ?? null;
  const block = blockId === null ? undefined : plan?.nodes.get(blockId)?.block;
  const handler = block?.type === 'step' ? block.handler : null;
  const sequenceName = plan?.document.name ?? '';
  const fingerprint = fingerprintOf({
    sequenceName,
    version: plan?.document.version ?? 0,
    blockId,
    handler,
    error: instance.failure?.error ?? {},
  });
  return { instance, sequenceName, handler, fingerprint };
}
