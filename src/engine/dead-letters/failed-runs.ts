import { type Fingerprint, fingerprintOf } from '../../core/dead-letters/fingerprint.ts';
import type { ListInstancesQuery } from '../../ports/store/instance-lists.ts';
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
