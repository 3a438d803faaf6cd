import { redactedExcerpt } from '../../core/redaction.ts';
import { webhookHeaders } from '../../core/outbound-webhooks.ts';
import type { WebhookErrorClass } from '../../core/webhook-events.ts';
import type { HttpEffects, OutboundResult } from '../../ports/effects.ts';
import type { OutboxEntry } from '../../ports/store/outbox.ts';
import type { Clock } from '../../ports/system.ts';

/** How a process sends webhooks (http-api.md 30). */
export interface WebhookSettings {
  readonly urls: readonly string[];
  /** Signs what is sent; null: it goes out unsigned. */
  readonly secret: string | null;
  readonly timeoutMs: number;
  /** After the first attempt. */
  readonly maxRetries: number;
  /** `instance.cancelled` is told too. */
  readonly cancelled: boolean;
}

/** What came of one attempt. `retry` false: another one would end the same way. */
export interface Sent {
  readonly durationMs: number;
  readonly signed: boolean;
  readonly statusCode: number | null;
  readonly errorClass: WebhookErrorClass | null;
  readonly errorExcerpt: string | null;
  readonly retry: boolean;
}

type Problem = Pick<Sent, 'statusCode' | 'errorClass' | 'errorExcerpt' | 'retry'>;

const DELIVERED: Problem = { statusCode: null, errorClass: null, errorExcerpt: null, retry: false };
/** What of an answer is read. */
const RESPONSE_BYTES_MAX = 1024 * 1024;
const EXCERPT_MAX = 512;
const TIMEOUT = 408;
const TOO_MANY = 429;
const TLS_CODES = /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY))/;

/** Makes one attempt to deliver a webhook. Never rejects. */
export async function sendWebhook(
  effects: HttpEffects,
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
  settings: WebhookSettings,
  entry: OutboxEntry,
): Promise<Sent> {
  const startedAt = clock.monotonicMs();
  const body = JSON.stringify(entry.payload);
  const timestampSecs = Math.floor(clock.nowMs() / 1000);
  const headers = webhookHeaders(settings.secret, { id: entry.id, timestampSecs, body });
  const problem = headers.ok
    ? await post(effects, settings, entry.url, headers.value, body)
    : failed('signature_configuration', headers.error, { retry: false });
  const durationMs = Math.max(0, Math.round(clock.monotonicMs() - startedAt));
  return { ...problem, durationMs, signed: headers.ok && settings.secret !== null };
}

async function post(
  effects: HttpEffects,
  settings: WebhookSettings,
  url: string,
  headers: ReadonlyArray<readonly [string, string]>,
  body: string,
): Promise<Problem> {
  try {
    return problemOf(
      await effects.send({
        method: 'POST',
        url,
        headers,
        body,
        keepsBody: true,
        timeoutMs: settings.timeoutMs,
        maxResponseBytes: RESPONSE_BYTES_MAX,
        signal: new AbortController().signal,
      }),
    );
  } catch (error) {
    return failed('other', String(error), { retry: true });
  }
}

function problemOf(result: OutboundResult): Problem {
  if (!result.ok) return failed(...classOf(result));
  const { status } = result;
  if (status >= 200 && status < 300) return { ...DELIVERED, statusCode: status };
  const mayPass = status < 400 || status >= 500 || status === TIMEOUT || status === TOO_MANY;
  const shown = new TextDecoder().decode(result.body.subarray(0, EXCERPT_MAX * 4));
  const excerpt = shown.trim() === '' ? `status ${status}` : `status ${status}: ${shown.trim()}`;
  return { ...failed('http_status', excerpt, { retry: mayPass }), statusCode: status };
}

function classOf(
  result: OutboundResult & { readonly ok: false },
): [WebhookErrorClass, string, { readonly retry: boolean }] {
  const { reason, message, code = '' } = result;
  switch (reason) {
    case 'blocked':
      return [code === 'redirect' ? 'redirect_rejected' : 'internal_policy', message, { retry: false }];
    case 'too_large':
      return ['response_too_large', message, { retry: false }];
    case 'network':
      return [TLS_CODES.test(code) ? 'tls' : 'connect', message, { retry: true }];
    case 'dns':
    case 'timeout':
    case 'aborted':
      return [reason, message, { retry: true }];
    default:
      return reason satisfies never;
  }
}

function failed(
  errorClass: WebhookErrorClass,
  message: string,
  { retry }: { readonly retry: boolean },
): Problem {
  // What a receiver answers may hold anything, also what no text column takes.
  const storable = message.replaceAll('\u0000', ' ');
  const errorExcerpt = Array.from(redactedExcerpt(storable)).slice(0, EXCERPT_MAX).join('');
  return { statusCode: null, errorClass, errorExcerpt, retry };
}
