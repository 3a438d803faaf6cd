/** Upper bounds of the buckets in milliseconds, each included; what takes longer is in none of them. */
const BOUNDS_MS = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
] as const;

/** How often something took how long. */
export interface TimesView {
  readonly count: number;
  readonly sumMs: number;
  /** For each bound how many took at most that long. */
  upTo(): readonly { readonly boundMs: number; readonly count: number }[];
}

export interface Times extends TimesView {
  add(ms: number): void;
}

/** Nothing is kept of a duration but that it is counted, so what is remembered never grows. */
export function createTimes(): Times {
  const counts = BOUNDS_MS.map(() => 0);
  let count = 0;
  let sumMs = 0;
  return {
    add(ms) {
      count += 1;
      sumMs += ms;
      const index = BOUNDS_MS.findIndex((boundMs) => ms <= boundMs);
      if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
    },
    get count() {
      return count;
    },
    get sumMs() {
      return sumMs;
    },
    upTo() {
      let total = 0;
      return BOUNDS_MS.map((boundMs, index) => {
        total += counts[index] ?? 0;
        return { boundMs, count: total };
      });
    },
  };
}
