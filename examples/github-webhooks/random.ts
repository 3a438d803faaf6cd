/** A stream of numbers that depends on the seed only, so that a run can be repeated. */
export interface Random {
  /** A whole number from `min` to `max`, both included. */
  readonly between: (min: number, max: number) => number;
  /** True in `percent` of 100 cases. */
  readonly chance: (percent: number) => boolean;
  readonly pick: <T>(values: readonly T[]) => T;
}

/** `label` keeps streams apart: `service:/labels:3` says nothing about `service:/labels:4`. */
export function seededRandom(seed: number, label: string): Random {
  let state = seed >>> 0;
  for (const char of label) state = mix(state ^ (char.codePointAt(0) ?? 0));
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    return mix(state) / 2 ** 32;
  };
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    between,
    chance: (percent) => next() * 100 < percent,
    pick: (values) => {
      const value = values[between(0, values.length - 1)];
      if (value === undefined) throw new RangeError('there is nothing to pick from');
      return value;
    },
  };
}

function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
