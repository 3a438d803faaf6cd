import type { AttemptStores, KeyAttempt } from '../../ports/store/idempotency.ts';
import type { IdSource } from '../ids.ts';
import type { Store } from '../../ports/store/store.ts';
import type { TurnRunner } from '../runner.ts';
import type { UseCaseDeps } from '../use-case.ts';
import type { WebhookSender } from '../webhooks/webhook-sender.ts';
import { seededEntropy, seededIds } from './seeded-parts.ts';

/** What is another one for a request with a key: everything that it writes, draws or starts goes by its attempt. */
export type AttemptDeps = Pick<UseCaseDeps, 'store' | 'ids' | 'entropy' | 'runner' | 'outbox'>;

export function attemptDeps(
  deps: UseCaseDeps,
  attempt: KeyAttempt,
  stores: AttemptStores<Store>,
  secret: string,
): AttemptDeps {
  const { outbox } = deps;
  const ids = seededIds(seededEntropy(`ids:${secret}`, attempt.seed), attempt.seed);
  return {
    store: stores.of(''),
    ids,
    entropy: seededEntropy(secret, attempt.seed),
    runner: attemptRunner(deps.runner, stores, attempt.number > 1),
    ...(outbox === undefined ? {} : { outbox: attemptOutbox(outbox, stores, ids) }),
  };
}

/**
 * Commands are recorded by instance, since many of them may go side by side. What an earlier attempt has claimed is lost
 * with it; when its lease is over somebody else takes it on.
 */
function attemptRunner(runner: TurnRunner, stores: AttemptStores<Store>, isRepeat: boolean): TurnRunner {
  const within = (instanceId: string) => ({ store: stores.of(instanceId), isRepeat });
  return {
    hasRoom: () => !isRepeat && runner.hasRoom(),
    newLease: () => runner.newLease(),
    adopt: (claim) => {
      if (!isRepeat) runner.adopt(claim);
    },
    nudge: (target, withinMs) => runner.nudge(target, withinMs),
    operate: (target, operation) => runner.operate(target, operation, within(target.instanceId)),
    resume: (target, order) => runner.resume(target, order, within(target.instanceId)),
  };
}

function attemptOutbox(outbox: WebhookSender, stores: AttemptStores<Store>, ids: IdSource): WebhookSender {
  return {
    ...outbox,
    redeliver: (tenantId, id) =>
      outbox.redeliver(tenantId, id, { store: stores.of('outbox'), claimToken: ids.newId() }),
  };
}
