/** Numbers from a seed, always the same. */
export interface Draw {
  /** A whole number below the bound. */
  below(bound: number): number;
  chance(percent: number): boolean;
  oneOf<T>(values: readonly T[]): T;
}

export function drawFrom(seed: number): Draw {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const draw: Draw = {
    below: (bound) => Math.floor(next() * bound),
    chance: (percent) => next() * 100 < percent,
    oneOf: (values) => {
      const value = values[draw.below(values.length)];
      if (value === undefined) throw new Error('nothing to choose from');
      return value;
    },
  };
  return draw;
}
