import { ok } from '../../core/result.ts';
import {
  type Arrival,
  ASSUMPTION_NAMES,
  ASSUMPTIONS,
  DEFAULTS,
  flagOf,
  type Host,
  type Mode,
} from '../cost/assumptions.ts';
import { estimate } from '../cost/estimate.ts';
import { explainNumbers } from '../cost/explain-numbers.ts';
import { type Flags, readPrices, readWorkload } from '../cost/read-flags.ts';
import { showComparison } from '../cost/show-comparison.ts';
import { showEstimate } from '../cost/show-estimate.ts';
import { defineCliCommand } from '../command.ts';

const HOSTS: readonly Host[] = ['aws', 'cloudflare'];
const MODES: readonly Mode[] = ['economy', 'steady'];
const ARRIVALS: readonly Arrival[] = ['spread', 'business-hours', 'heap'];
/** Where standard output is no terminal. */
const COLUMNS_UNKNOWN = 80;

/** Without defaults: whether one was given decides what `--compare` compares, and what the list marks as said. */
const numbers = Object.fromEntries(
  ASSUMPTION_NAMES.map((name) => {
    const description = `${ASSUMPTIONS[name].about} (default: ${DEFAULTS[name]})`;
    return [flagOf(name), { type: 'string', valueHint: 'number', description }] as const;
  }),
);

export default defineCliCommand({
  name: 'cost',
  description: 'Estimate what a month costs on AWS or Cloudflare (docs/cost.md).',
  args: {
    host: {
      type: 'enum',
      options: [...HOSTS],
      valueHint: HOSTS.join('|'),
      description: 'Where it runs (default: aws)',
    },
    mode: {
      type: 'enum',
      options: [...MODES],
      valueHint: MODES.join('|'),
      description: 'Whether the database may sleep (default: economy)',
    },
    compare: { type: 'boolean', default: false, description: 'Show both hosts and both modes side by side' },
    arrival: {
      type: 'enum',
      options: [...ARRIVALS],
      valueHint: ARRIVALS.join('|'),
      default: 'spread',
      description: 'How runs come: at any time, in business hours, or all at once',
    },
    ...numbers,
    'steps-per-turn': {
      type: 'string',
      valueHint: 'number',
      description: 'Steps a turn runs before it goes back to the queue (default: as many as fit)',
    },
    price: { type: 'string', description: 'Another price, name=dollars; several with commas' },
    prices: { type: 'string', valueHint: 'file', description: 'JSON file of other prices' },
    'free-tiers': {
      type: 'boolean',
      default: false,
      description: 'Leave out what AWS always gives for free and what the Workers plan includes',
    },
    json: { type: 'boolean', default: false, description: 'Print JSON' },
    explain: {
      type: 'boolean',
      default: false,
      description: 'Say what each flag means, and where each number and price is from (Markdown)',
    },
  },
  run: async (args, terminal) => {
    if (args.explain) {
      for (const line of explainNumbers()) terminal.out(line);
      return ok(null);
    }
    const flags: Flags = args;
    const compared = args.compare;
    const hosts = args.host === undefined ? (compared ? HOSTS : HOSTS.slice(0, 1)) : [args.host];
    const said = { arrival: args.arrival, freeTiers: args['free-tiers'], hosts };
    const workload = readWorkload(flags, said);
    if (!workload.ok) return workload;
    const prices = readPrices(args.price ?? '', args.prices);
    if (!prices.ok) return prices;
    const modes = args.mode === undefined ? (compared ? MODES : MODES.slice(0, 1)) : [args.mode];
    const estimates = hosts.flatMap((host) =>
      modes.map((mode) => estimate({ ...workload.value, host, mode }, prices.value)),
    );
    const given = { workload: workload.value, prices: prices.value };
    const shown = { ...given, columns: process.stdout.columns ?? COLUMNS_UNKNOWN, palette: terminal.palette };
    if (args.json) terminal.out(JSON.stringify({ estimates, ...given }));
    else if (compared) for (const line of showComparison(estimates, shown)) terminal.out(line);
    else for (const one of estimates) for (const line of showEstimate(one, shown)) terminal.out(line);
    return ok(null);
  },
});
