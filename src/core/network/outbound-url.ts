import { classifyHost } from './blocked-address.ts';

/** The parts of a parsed URL that the rules look at; the platform's URL object fits. */
export interface UrlParts {
  /** With the colon, `https:`. */
  readonly protocol: string;
  readonly hostname: string;
  /** Host with the port when it is not the scheme's own. */
  readonly host: string;
  readonly pathname: string;
  readonly username: string;
  readonly password: string;
}

export interface UrlRules {
  /** Switches the address and name check off, never the other rules [NET-6]. */
  readonly allowInternal: boolean;
  /** Host patterns that narrow further: a name, an address, or `*.name` for all below it [NET-7]. */
  readonly allowedHosts?: readonly string[] | undefined;
}

/**
 * Why a URL must not be requested, null when it may be (its host name still has to be resolved and checked). The text
 * contains `blocked` [NET-1] and shows no query string [NET-10].
 */
export function urlProblem(url: UrlParts, rules: UrlRules): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `blocked: scheme ${url.protocol} is not http or https`;
  if (url.hostname === '') return 'blocked: the URL has no host';
  if (url.username !== '' || url.password !== '') return `blocked: ${shownUrl(url)} carries user info`;
  if (!hostAllowed(url.hostname, rules.allowedHosts))
    return `blocked: ${shownUrl(url)} is not on the list of allowed hosts`;
  if (rules.allowInternal) return null;
  const kind = classifyHost(url.hostname);
  if (kind === 'blocked_address') return `blocked: ${shownUrl(url)} is not a public address`;
  if (kind === 'blocked_name') return `blocked: ${shownUrl(url)} is not a public host`;
  return null;
}

/** Scheme, host and path: all that messages and logs may show of a URL [NET-10]. */
export function shownUrl(url: Pick<UrlParts, 'protocol' | 'host' | 'pathname'>): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** True when there is no list or a pattern of it fits the host [NET-7]. `*.a.b` fits `x.a.b` and not `a.b`. */
export function hostAllowed(host: string, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined) return true;
  const name = host.toLowerCase().replace(/\.$/, '');
  return patterns.some((pattern) => {
    const wanted = pattern.toLowerCase();
    return wanted.startsWith('*.')
      ? name.endsWith(wanted.slice(1)) && name.length > wanted.length - 1
      : name === wanted;
  });
}
