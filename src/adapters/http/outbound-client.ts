import type { HttpEffects } from '../../ports/effects.ts';
import { type Exchange, nodeExchange } from './exchange.ts';
import { createGuardedClient, type GuardedClientSettings } from './guarded-client.ts';
import { type Resolve, resolveHost, systemResolve } from './resolve-host.ts';

export interface OutboundClientSettings extends Omit<GuardedClientSettings, 'codings' | 'reach'> {
  /** Further certificate authorities, PEM, for private installations. */
  readonly trustedCertificates?: string;
  /** Default: the machine's resolver. */
  readonly resolve?: Resolve;
  /** Default: Node's client. */
  readonly exchange?: Exchange;
}

/** The value of STEPWELL_ALLOW_INTERNAL_URLS: only `1` and `true` switch the address check off [NET-6]. */
export function parseAllowInternal(setting: string | undefined): boolean {
  const value = (setting ?? '').trim().toLowerCase();
  return value === '1' || value === 'true';
}

/**
 * The outbound HTTP client of a Node process (handlers.md 2, RULINGS B16): of every hop all addresses of the name are
 * checked, and the connection goes to a checked address.
 */
export function createOutboundClient(settings: OutboundClientSettings): HttpEffects {
  const { allowInternal, trustedCertificates } = settings;
  const { resolve = systemResolve, exchange = nodeExchange } = settings;
  return createGuardedClient({
    ...settings,
    codings: 'gzip, deflate, br',
    reach: async (hop, signal) => {
      const host = await resolveHost(hop.url.hostname, resolve, allowInternal);
      if (!host.ok) return host;
      return exchange(hop, { addresses: host.addresses, allowInternal, signal, trustedCertificates });
    },
  });
}
