/** The longest request id that is kept. */
const MAX_LENGTH = 128;

/** The caller's correlation id without strange characters (http-api.md 1.2), or a new one when nothing is left of it. */
export function requestIdOf(header: string | null, newId: () => string): string {
  const kept = (header ?? '').replace(/[^A-Za-z0-9_-]/g, '').slice(0, MAX_LENGTH);
  return kept === '' ? newId() : kept;
}
