import type { OutboxEntry, OutboxStore, WebhookAttempt, WebhookDelivery } from '../../ports/store/outbox.ts';
import { call, isUuid } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

type ClaimedWebhook = Awaited<ReturnType<OutboxStore['claimWebhook']>>;

export function createOutboxStore(driver: SqlDriver): OutboxStore {
  return {
    claimWebhooks: async ({ claimToken, leaseMs, perUrl, underWay }) =>
      answerOf<OutboxEntry[]>(
        await call(driver, 'SELECT stepwell.claim_webhooks_v1($1, $2, $3, $4::jsonb)', [
          claimToken,
          leaseMs,
          perUrl,
          JSON.stringify(underWay),
        ]),
      ),
    claimWebhook: async ({ tenantId, id, claimToken, leaseMs }) => {
      if (!isUuid(id)) return { status: 'not_found' };
      const params = [tenantId, id, claimToken, leaseMs];
      return answerOf<ClaimedWebhook>(
        await call(driver, 'SELECT stepwell.claim_webhook_v1($1, $2, $3, $4)', params),
      );
    },
    finishWebhook: async (result) =>
      answerOf<boolean>(
        await call(driver, 'SELECT stepwell.finish_webhook_v1($1::jsonb)', [JSON.stringify(result)]),
      ),
    ...readPart(driver),
  };
}

function readPart(driver: SqlDriver): Omit<OutboxStore, 'claimWebhooks' | 'claimWebhook' | 'finishWebhook'> {
  return {
    listWebhookOutbox: async (tenantId, status, limit) =>
      answerOf<OutboxEntry[]>(
        await call(driver, 'SELECT stepwell.list_webhook_outbox_v1($1, $2, $3)', [tenantId, status, limit]),
      ),
    getWebhook: async (tenantId, id) => {
      if (!isUuid(id)) return null;
      return answerOf<OutboxEntry | null>(
        await call(driver, 'SELECT stepwell.get_webhook_v1($1, $2)', [tenantId, id]),
      );
    },
    deleteWebhook: async (tenantId, id) => {
      if (!isUuid(id)) return false;
      return answerOf<boolean>(
        await call(driver, 'SELECT stepwell.delete_webhook_v1($1, $2)', [tenantId, id]),
      );
    },
    listWebhookDeliveries: async (query) =>
      answerOf<WebhookDelivery[]>(
        await call(driver, 'SELECT stepwell.list_webhook_sends_v1($1::jsonb)', [JSON.stringify(query)]),
      ),
    listWebhookAttempts: async (tenantId, deliveryId) => {
      if (!isUuid(deliveryId)) return null;
      return answerOf<WebhookAttempt[] | null>(
        await call(driver, 'SELECT stepwell.list_webhook_attempts_v1($1, $2)', [tenantId, deliveryId]),
      );
    },
  };
}
