/**
 * The object that metadata must contain, as JSON text; null when any will do. A key may be `__proto__`. Two different
 * values for one key fit nothing: then the answer is undefined.
 */
export function encodeMetadata(
  metadata: ReadonlyArray<readonly [string, string]>,
): string | null | undefined {
  if (metadata.length === 0) return null;
  const wanted = new Map<string, string>();
  for (const [key, value] of metadata) {
    if (wanted.has(key) && wanted.get(key) !== value) return undefined;
    wanted.set(key, value);
  }
  return `{${[...wanted].map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
}
