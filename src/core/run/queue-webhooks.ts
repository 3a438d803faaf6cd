import type { JsonObject } from '../json.ts';
import type { WebhookEvent } from '../webhook-events.ts';
import type { Draft } from './draft.ts';
import type { TerminalState } from './states.ts';

/**
 * [INS-14], http-api.md 21.1: one row per target of this process with the commit of what it tells. Nothing without
 * targets, and nothing of dry runs ([DRY-4]).
 *
 * @param data What the event says besides where the run stands.
 */
export function queueWebhooks(draft: Draft, eventType: WebhookEvent, data: JsonObject = {}): void {
  const { record, env } = draft;
  if (env.webhooks === undefined || record.dryRun) return;
  const payload: JsonObject = {
    event_type: eventType,
    instance_id: record.id,
    timestamp: new Date(env.now).toISOString(),
    data: {
      tenant_id: record.tenantId,
      namespace: record.namespace,
      sequence_id: record.sequenceId,
      state: draft.state,
      ...data,
    },
  };
  for (const url of env.webhooks.urls) draft.push('webhooks', { id: env.newId(), eventType, url, payload });
}

/** The end of a run. A cancel is told only where that is asked for. */
export function queueEnd(draft: Draft, state: TerminalState): void {
  if (state === 'cancelled' && draft.env.webhooks?.cancelled !== true) return;
  queueWebhooks(draft, `instance.${state}`);
}
