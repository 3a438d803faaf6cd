/** What somebody who gave another text should have given. */
export const EXPECTED_ADDRESS =
  'postgres://user:password@host/database (special characters of the password as %XX)';

/**
 * Reads `postgres://…` or `postgresql://…`; null for anything else, so that no library is ever handed a text that it would
 * show in its error. A password with a bare `/`, `?` or `#` cuts the address short: what is left then looks like an address
 * whose host is the user, and would be shown as one, so it is refused.
 */
export function parseAddress(text: string): URL | null {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isCut = url.username === '' && `${url.pathname}${url.search}${url.hash}`.includes('@');
  return isCut || !isDecodable(`${url.username}${url.password}${url.pathname}`) ? null : url;
}

export function isAddress(text: string): boolean {
  return parseAddress(text) !== null;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The host that is connected to; a path for a socket of this machine. */
function hostOf(url: URL): string {
  return url.searchParams.get('host') ?? decodeURIComponent(url.hostname).replace(/^\[(.+)\]$/, '$1');
}

/** True for a socket of this machine, over which nobody speaks TLS. */
export function isSocket(url: URL): boolean {
  return hostOf(url).startsWith('/');
}

/** True where no network lies between: a socket, or the loopback interface. */
export function isLocal(url: URL): boolean {
  const host = hostOf(url);
  return host === '' || isSocket(url) || /^(localhost|127(\.\d+){3}|::1)$/i.test(host);
}

/** Ports of poolers: Supabase's in transaction mode, and the one that PgBouncer has by default. */
const POOLER_PORTS: ReadonlySet<string> = new Set(['6543', '6432']);

/**
 * True when the address names a pooler that gives a connection to a client for one transaction: `?pgbouncer=true`, a name
 * that ends with `-pooler` (Neon), the ports of Supabase and PgBouncer, and RDS Proxy. Behind one that shares whole
 * sessions nothing is wrong with it, only time-outs are the role's then.
 */
export function namesPooler(url: URL): boolean {
  const host = hostOf(url);
  const isProxy = /\.proxy-[^.]+\..+\.rds\.amazonaws\.com(\.cn)?$/i.test(host);
  const saysSo = /^(true|1)$/i.test(url.searchParams.get('pgbouncer') ?? '');
  const port = url.searchParams.get('port') ?? url.port;
  return saysSo || isProxy || POOLER_PORTS.has(port) || /^[^.]+-pooler\./i.test(host);
}

/** The address of the database itself where that of its pooler tells it, which is so at Neon; else the same text. */
export function directAddress(text: string): string {
  const url = parseAddress(text);
  if (url === null || !url.hostname.endsWith('.neon.tech')) return text;
  url.hostname = url.hostname.replace(/-pooler(?=[.])/, '');
  return url.href;
}

/** A shorter text is part of many words, and no secret. */
const SECRET_LENGTH_MIN = 4;

/** The forms in which the password may turn up in a text of somebody else. */
export function secretsOf(url: URL): readonly string[] {
  // Parameters come decoded; as they stand in the address only their own text tells.
  const asParameter = /[?&]password=([^&#]*)/.exec(url.search)?.[1] ?? '';
  const ofUser = [url.password, decodeURIComponent(url.password)];
  const forms = [...ofUser, asParameter, url.searchParams.get('password') ?? ''];
  return [...new Set(forms)].filter((secret) => secret.length >= SECRET_LENGTH_MIN);
}
