/**
 * A server without keys that listens on the loopback interface trusts everybody on this machine, and nobody else. A web
 * page can reach it too, by a name that it lets resolve to 127.0.0.1, or by a form that needs no answer. So the name
 * asked for must be a loopback one, and an `Origin`, which only browsers send, as well (or one of `origins`). Webhooks
 * prove themselves with their signature, and come through tunnels under any name.
 */
export function isForeignCall(request: Request, path: string, origins: readonly string[]): boolean {
  if (path.startsWith('/webhooks/')) return false;
  const host = request.headers.get('host');
  const origin = request.headers.get('origin');
  if (host !== null && !isLoopback(host)) return true;
  return origin !== null && !isLoopbackOrigin(origin) && !origins.includes(origin);
}

function isLoopbackOrigin(origin: string): boolean {
  return URL.canParse(origin) && isLoopback(new URL(origin).host);
}

/** `localhost`, 127.0.0.0/8 or `[::1]`, with or without a port. */
function isLoopback(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
}
