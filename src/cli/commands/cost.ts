import { err, ok, type Result } from '../../core/result.ts';
import type { Advice } from '../../core/advice.ts';
import { type CostLine, type Estimate, estimate, type Workload } from '../cost/estimate.ts';
import { PRICES, type PriceName, type Prices } from '../cost/prices.ts';
import { defineCliCommand } from '../command.ts';
import { nearestName } from '../../core/definition/did-you-mean.ts';

const number = (description: string, value: string) =>
  ({ type: 'string', description, default: value }) as const;

export default defineCliCommand({
  name: 'cost',
  description: 'Estimate what a month costs on AWS or Cloudflare (docs/cost.md).',
  args: {
    host: { type: 'enum', options: ['aws', 'cloudflare'], default: 'aws', description: 'Where it runs.' },
    mode: {
      type: 'enum',
      options: ['steady', 'economy'],
      default: 'economy',
      description: 'Whether the database may sleep.',
    },
    runs: number('Runs a month.', '200000'),
    steps: number('Steps of a run.', '5'),
    'steps-per-turn': number('Steps that a turn runs before it goes back to the queue.', '5'),
    'step-ms': number('Time a step waits for its handler, in ms.', '50'),
    'cpu-ms': number('Time a step computes, in ms.', '2'),
    batch: number('Messages one invocation takes.', '2'),
    'min-units': number('Compute units of the database while it is awake.', '0.25'),
    price: { type: 'string', description: 'Another price, name=dollars; several with commas.' },
    json: { type: 'boolean', description: 'Print JSON.', default: false },
  },
  run: async (args, terminal) => {
    const workload = workloadOf(args);
    if (!workload.ok) return workload;
    const prices = pricesOf(args.price ?? '');
    if (!prices.ok) return prices;
    const estimated = estimate(workload.value, prices.value);
    if (args.json)
      terminal.out(JSON.stringify({ ...estimated, workload: workload.value, prices: prices.value }));
    else for (const line of described(estimated)) terminal.out(line);
    return ok(null);
  },
});

interface Given {
  readonly host: Workload['host'];
  readonly mode: Workload['mode'];
  readonly runs: string;
  readonly steps: string;
  readonly batch: string;
  readonly 'steps-per-turn': string;
  readonly 'step-ms': string;
  readonly 'cpu-ms': string;
  readonly 'min-units': string;
}

function workloadOf(args: Given): Result<Workload, Advice> {
  let wrong: string | null = null;
  const read = (flag: string, text: string, least: number): number => {
    const value = atLeast(text, least);
    if (value === null) wrong ??= `--${flag} must be a number of at least ${least}`;
    return value ?? least;
  };
  const workload = {
    host: args.host,
    mode: args.mode,
    runs: read('runs', args.runs, 0),
    stepsPerRun: read('steps', args.steps, 0),
    stepsPerTurn: read('steps-per-turn', args['steps-per-turn'], 1),
    stepMs: read('step-ms', args['step-ms'], 0),
    cpuMs: read('cpu-ms', args['cpu-ms'], 0),
    batch: read('batch', args.batch, 1),
    minUnits: read('min-units', args['min-units'], 0),
  };
  return wrong === null ? ok(workload) : err({ message: wrong, next: 'See `npx stepwell cost --help`.' });
}

function atLeast(text: string, least: number): number | null {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= least ? value : null;
}

function pricesOf(text: string): Result<Prices, Advice> {
  const prices: Record<PriceName, number> = { ...PRICES };
  for (const part of text.split(',').filter((piece) => piece.trim() !== '')) {
    const [name = '', value = ''] = part.split('=').map((piece) => piece.trim());
    const dollars = atLeast(value, 0);
    if (!isPriceName(name) || dollars === null) {
      const near = nearestName(name, Object.keys(PRICES));
      const names = `The prices are ${Object.keys(PRICES).join(', ')}.`;
      return err({
        message: `${part.trim()} sets no price`,
        next: near === undefined || isPriceName(name) ? names : `Did you mean ${near}?\n${names}`,
      });
    }
    prices[name] = dollars;
  }
  return ok(prices);
}

function isPriceName(name: string): name is PriceName {
  return Object.hasOwn(PRICES, name);
}

function described({ work, idle, perMillionSteps, idleMonth }: Estimate): readonly string[] {
  return [
    'The work of a month',
    ...work.map(shown),
    `  a million steps ${dollars(perMillionSteps).padStart(29)}`,
    '',
    'A month in which nothing happens',
    ...idle.map(shown),
    `  together ${dollars(idleMonth).padStart(36)}`,
  ];
}

function shown({ what, amount, unit, dollars: cost }: CostLine): string {
  const rounded = amount >= 100 ? Math.round(amount).toString() : amount.toPrecision(3);
  return `  ${what.padEnd(18)}${rounded.padStart(10)} ${unit.padEnd(12)}${dollars(cost).padStart(5)}`;
}

function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}
