/** Texts longer than this are parsed each time; they are rare and would push everything else out. */
const CACHED_TEXT_LENGTH_MAX = 8 * 1024;
/** Sum of the lengths of the texts kept in one cache. A parsed form takes some tens of bytes for each character. */
const CACHED_LENGTH_MAX = 512 * 1024;
/** Charged for each entry beside its text, so that many tiny texts are bounded too. */
const ENTRY_LENGTH = 64;

/**
 * `parse` with its results kept by text ([SEC-6]). Parsing is a pure function of the text, so an entry never goes
 * stale; the oldest ones leave when the cache is full.
 */
export function cachedByText<T>(parse: (text: string) => T): (text: string) => T {
  const entries = new Map<string, T>();
  let length = 0;
  return (text) => {
    const found = entries.get(text);
    if (found !== undefined) return found;
    const parsed = parse(text);
    if (text.length > CACHED_TEXT_LENGTH_MAX) return parsed;
    entries.set(text, parsed);
    length += text.length + ENTRY_LENGTH;
    for (const oldest of entries.keys()) {
      if (length <= CACHED_LENGTH_MAX) break;
      entries.delete(oldest);
      length -= oldest.length + ENTRY_LENGTH;
    }
    return parsed;
  };
}
