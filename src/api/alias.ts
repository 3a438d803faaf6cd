/** Everything is found under this prefix; the bare paths are kept for clients of the older form. */
export const API_PREFIX = '/api/v1';

/** 2026-01-01, since when the bare form is the older one, and 2030-01-01, until when it stays at least. */
const DEPRECATED_SINCE_SECS = 1_767_225_600;
const SUNSET = 'Tue, 01 Jan 2030 00:00:00 GMT';

/** Tells a caller of a bare path where the same thing is found for good (http-api.md 1.1). */
export function markAlias(response: Response, url: URL): void {
  response.headers.set('deprecation', `@${DEPRECATED_SINCE_SECS}`);
  response.headers.set('sunset', SUNSET);
  response.headers.set('link', `<${API_PREFIX}${url.pathname}${url.search}>; rel="successor-version"`);
}
