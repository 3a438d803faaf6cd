import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isBlockedAddress } from '../../core/network/blocked-address.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a host name, as the machine's resolver gives them; throws when there is no answer. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export type HostAddresses =
  | { readonly ok: true; readonly addresses: readonly ResolvedAddress[] }
  | { readonly ok: false; readonly reason: 'blocked' | 'dns' };

/** Asks the machine's resolver, hosts file included, for every address. */
export const systemResolve: Resolve = async (hostname) => {
  const answers = await lookup(hostname, { all: true, verbatim: true });
  return answers.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/**
 * The addresses that a connection to the host may use [NET-2]. One address that is not public blocks the name as a
 * whole: an answer that mixes both is how an attacker tries his luck. `hostname` is as the URL parser gives it.
 */
export async function resolveHost(
  hostname: string,
  resolve: Resolve,
  allowInternal: boolean,
): Promise<HostAddresses> {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const literal = familyOf(bare);
  const addresses = literal === null ? await answersFor(bare, resolve) : [{ address: bare, family: literal }];
  if (addresses.length === 0) return { ok: false, reason: 'dns' };
  if (!allowInternal && addresses.some(({ address }) => isBlockedAddress(address)))
    return { ok: false, reason: 'blocked' };
  return { ok: true, addresses };
}

async function answersFor(hostname: string, resolve: Resolve): Promise<readonly ResolvedAddress[]> {
  try {
    return await resolve(hostname);
  } catch {
    return [];
  }
}

function familyOf(text: string): 4 | 6 | null {
  const family = isIP(text);
  return family === 4 || family === 6 ? family : null;
}
