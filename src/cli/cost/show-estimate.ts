import { type Palette, wrapped } from '../terminal.ts';
import type { Host } from './assumptions.ts';
import { HOURS } from './awake.ts';
import type { CostLine, Estimate } from './estimate.ts';
import { amountText, dollarsText } from './figures.ts';
import type { Price, Prices, PriceSource } from './prices.ts';
import type { Given } from './read-flags.ts';
import { showAssumptions, type Shown } from './show-assumptions.ts';

export const HOST_NAMES: Readonly<Record<Host, string>> = { aws: 'AWS', cloudflare: 'Cloudflare' };

const PRICE_MARKS: Readonly<Record<PriceSource, string>> = { provider: 'p', quoted: 'q', given: 'y' };
const PRICE_LEGEND =
  'Prices in US dollars (/M: a million), us-east-1, with the date of what was read. p: the provider’s documentation, q: others who quote the provider, y: yours.';
/** Below it amounts and prices have no room; they are in --json. */
const COLUMNS_FOR_PRICES = 78;
/** Cells of the bar, where there is room and where not. */
const BAR = [20, 12] as const;

/** One estimate as a table, with everything it rests on. */
export function showEstimate(
  estimate: Estimate,
  shown: Shown & { readonly prices: Prices },
): readonly string[] {
  const { palette, columns, workload, prices } = shown;
  const isWide = columns >= COLUMNS_FOR_PRICES;
  const row = isWide ? wideRow : narrowRow;
  const line = (what: string, dollars: string): string =>
    `  ${what.padEnd(isWide ? 65 : 31)}${dollars.padStart(10)}`;
  const { bold, dim, yellow } = palette;
  const { perMillionSteps, perMillionWithoutCompute } = estimate;
  return [
    ...titleOf(estimate, workload)
      .flatMap((text) => wrapped(text, columns))
      .map((text, index) => (index === 0 ? bold(text) : text)),
    '',
    dim(row(HEADS, palette)),
    ...estimate.lines.map((cost) => row(cellsOf(cost, prices[cost.price]), palette)),
    '',
    line('An idle month', dollarsText(estimate.idleMonth)),
    bold(line('This month', dollarsText(estimate.month))),
    ...(perMillionSteps === null || perMillionWithoutCompute === null
      ? []
      : [
          line('A million steps more', dollarsText(perMillionSteps)),
          dim(line('  without database time', dollarsText(perMillionWithoutCompute))),
        ]),
    '',
    ...awakeLines(estimate, BAR[isWide ? 0 : 1], palette),
    ...estimate.notes.flatMap((note) =>
      wrapped(note, columns - 2).map((text, index) => `${index === 0 ? yellow('!') : ' '} ${text}`),
    ),
    '',
    ...showAssumptions([estimate.host], shown),
    ...(isWide ? ['', ...wrapped(PRICE_LEGEND, columns).map(dim)] : []),
  ];
}

function titleOf({ host, mode }: Estimate, workload: Given): readonly string[] {
  return [`${HOST_NAMES[host]}, ${mode} mode`, workloadText(workload)];
}

/** What happens in the month, in words. */
export function workloadText({
  runs,
  steps,
  waits,
  arrival,
  businessDays,
  businessHours,
  freeTiers,
}: Given): string {
  const count = (amount: number): string => amount.toLocaleString('en');
  const pauses = waits === 0 ? '' : ` and ${count(waits)} ${waits === 1 ? 'wait' : 'waits'}`;
  const tiers = freeTiers ? '; what is free or included is left out' : '';
  const when = {
    spread: 'at any time of the month',
    heap: 'all at once',
    'business-hours': `in ${count(businessHours)} hours of ${count(businessDays)} days`,
  }[arrival];
  return `${count(runs)} ${runs === 1 ? 'run' : 'runs'} of ${count(steps)} ${steps === 1 ? 'step' : 'steps'}${pauses} a month, ${when}${tiers}`;
}

interface Cells {
  readonly what: string;
  readonly amount: string;
  readonly unit: string;
  readonly price: string;
  readonly read: string;
  readonly idle: string;
  readonly month: string;
}

const HEADS: Cells = {
  what: '',
  amount: 'a month',
  unit: '',
  price: 'price',
  read: '  read',
  idle: 'idle $',
  month: 'month $',
};

function cellsOf({ what, unit, idle, month }: CostLine, { dollars, per, from, asOf }: Price): Cells {
  return {
    what,
    amount: amountText(month.amount),
    unit,
    price: `${Number(dollars.toPrecision(4))}${per === 'million' ? '/M' : ''}`,
    read: `${PRICE_MARKS[from]} ${asOf.slice(0, '2026-11'.length)}`,
    idle: dollarsText(idle.dollars),
    month: dollarsText(month.dollars),
  };
}

function wideRow({ what, amount, unit, price, read, idle, month }: Cells, { dim }: Palette): string {
  const rate = dim(`${price.padStart(8)} ${read.padEnd(9)}`);
  return `  ${what.padEnd(18)} ${amount.padStart(11)} ${unit.padEnd(7)}${rate} ${idle.padStart(8)} ${month.padStart(9)}`;
}

function narrowRow({ what, idle, month }: Cells): string {
  return `  ${what.padEnd(18)}${idle.padStart(11)}${month.padStart(12)}`;
}

function awakeLines(
  { awakeHours, idleAwakeHours }: Estimate,
  cells: number,
  { dim, green, yellow }: Palette,
): readonly string[] {
  const share = awakeHours / HOURS;
  const full = share === 0 ? 0 : Math.max(1, Math.round(share * cells));
  const paint = share > 0.5 ? yellow : green;
  const bar = `${paint('█'.repeat(full))}${dim('░'.repeat(cells - full))}`;
  return [
    `  Database awake  ${bar} ${amountText(awakeHours)} of ${HOURS} h`,
    dim(`                  idle month: ${amountText(idleAwakeHours)} h`),
  ];
}
