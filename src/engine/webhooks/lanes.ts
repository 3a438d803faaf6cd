/** What a process is sending, by target: a slow target has few of its connections. */
export interface Lanes {
  /** By target, how many are on their way. */
  underWay(): Record<string, number>;
  begin(url: string): void;
  /** True when there is probably more for this target. */
  end(url: string): boolean;
  /**
   * Notes what a look has brought, given what was on its way when it began; true when a lane that it filled has become
   * free meanwhile, so that it is worth to look again at once.
   */
  looked(before: Readonly<Record<string, number>>, found: readonly { readonly url: string }[]): boolean;
}

export function createLanes(perUrl: number): Lanes {
  const counts = new Map<string, number>();
  /** Targets that had as many rows for us as we could take. */
  let more: ReadonlySet<string> = new Set();
  const countOf = (url: string): number => counts.get(url) ?? 0;
  return {
    underWay: () => Object.fromEntries(counts),
    begin: (url) => void counts.set(url, countOf(url) + 1),
    end(url) {
      const left = countOf(url) - 1;
      if (left > 0) counts.set(url, left);
      else counts.delete(url);
      return more.has(url);
    },
    looked(before, found) {
      const offered = new Map(Object.entries(before));
      for (const { url } of found) offered.set(url, (offered.get(url) ?? 0) + 1);
      more = new Set([...offered].flatMap(([url, count]) => (count >= perUrl ? [url] : [])));
      return [...more].some((url) => countOf(url) < perUrl);
    },
  };
}
