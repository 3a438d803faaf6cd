/** Median, smallest and largest of some figures. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? 0;
  const lower = sorted[Math.ceil(middle) - 1] ?? upper;
  return { median: (lower + upper) / 2, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

export function showSpread({ median, min, max }: Spread, digits = 0): string {
  const text = (value: number): string =>
    value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${text(median)} [${text(min)}-${text(max)}]`;
}
