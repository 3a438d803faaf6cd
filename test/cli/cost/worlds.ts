import { DEFAULTS, type Workload } from '../../../src/cli/cost/assumptions.ts';
import { estimate } from '../../../src/cli/cost/estimate.ts';
import { PRICES } from '../../../src/cli/cost/prices.ts';

export const WORKLOAD: Workload = {
  ...DEFAULTS,
  host: 'aws',
  mode: 'economy',
  arrival: 'spread',
  stepsPerTurn: null,
  freeTiers: false,
};

export const estimateOf = (change: Partial<Workload>) => estimate({ ...WORKLOAD, ...change }, PRICES);

/** The four that are compared. */
export const PLACES = (['aws', 'cloudflare'] as const).flatMap((host) =>
  (['economy', 'steady'] as const).map((mode) => ({ host, mode })),
);
