import {
  createOutboundClient,
  type OutboundClientSettings,
} from '../../src/adapters/http/outbound-client.ts';
import type { HttpEffects, OutboundRequest } from '../../src/ports/effects.ts';
import { manualClock } from './manual-clock.ts';

/** A client which may reach loopback, whose timeouts never fire unless the test brings its own clock. */
export function clientUnderTest(settings: Partial<OutboundClientSettings> = {}): HttpEffects {
  return createOutboundClient({
    clock: manualClock(),
    userAgent: 'stepwell/0.0.0-test',
    allowInternal: true,
    ...settings,
  });
}

export function outboundRequest(url: string, overrides: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    method: 'GET',
    url,
    headers: [],
    timeoutMs: 10_000,
    maxResponseBytes: 1024 * 1024,
    signal: new AbortController().signal,
    ...overrides,
  };
}

export function bodyText(result: { readonly ok: boolean; readonly body?: Uint8Array }): string {
  return Buffer.from(result.body ?? []).toString('utf8');
}
