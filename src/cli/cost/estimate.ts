import type { Host, Mode, Workload } from './assumptions.ts';
import { notesOn } from './notes.ts';
import { dollarsFor, type PriceName, type Prices } from './prices.ts';
import { type Usage, type Use, type UseGroup, usageOf } from './usage.ts';

export interface Billed {
  readonly amount: number;
  readonly dollars: number;
}

export interface CostLine {
  readonly what: string;
  readonly group: UseGroup;
  readonly price: PriceName;
  readonly unit: string;
  /** In a month in which nothing happens. */
  readonly idle: Billed;
  /** In the month of the workload, with what it costs idle. */
  readonly month: Billed;
}

export interface Estimate {
  readonly host: Host;
  readonly mode: Mode;
  readonly lines: readonly CostLine[];
  readonly idleMonth: number;
  readonly month: number;
  /** What the month would cost more with a million steps more, in runs of the same kind; null where there are no steps. */
  readonly perMillionSteps: number | null;
  /** The same without the time of the database, which sleeps less or not at all where runs come often. */
  readonly perMillionWithoutCompute: number | null;
  /** Hours of 730 in which the database is awake. */
  readonly awakeHours: number;
  readonly idleAwakeHours: number;
  /** What the user should know before believing it. */
  readonly notes: readonly string[];
}

/** What a workload costs in a month; docs/cost.md has the formulas, and what is not in it. */
export function estimate(workload: Workload, prices: Prices): Estimate {
  const usage = usageOf(workload);
  const idleUsage = usageOf({ ...workload, runs: 0, reads: 0 });
  const month = billOf(usage, workload, prices);
  const idle = billOf(idleUsage, workload, prices);
  const total = sum(month);
  const idleMonth = sum(idle);
  const margin = usage.work.steps === 0 ? null : marginOf(workload, prices, { usage, bill: month });
  return {
    host: workload.host,
    mode: workload.mode,
    lines: usage.uses.map((use, index) => ({
      what: use.what,
      group: use.group,
      price: use.price,
      unit: prices[use.price].unit,
      idle: idle[index] ?? NOTHING,
      month: month[index] ?? NOTHING,
    })),
    idleMonth,
    month: total,
    perMillionSteps: margin?.total ?? null,
    perMillionWithoutCompute: margin?.withoutCompute ?? null,
    awakeHours: usage.awake.hours,
    idleAwakeHours: idleUsage.awake.hours,
    notes: notesOn(workload, usage),
  };
}

const MILLION = 1e6;

/** The next million steps, not the average over the month: what keeps the database awake already is not paid again. */
function marginOf(
  workload: Workload,
  prices: Prices,
  now: { readonly usage: Usage; readonly bill: readonly Billed[] },
): { readonly total: number; readonly withoutCompute: number } {
  const more = { ...workload, runs: workload.runs * (1 + MILLION / now.usage.work.steps) };
  const usage = usageOf(more);
  const bill = billOf(usage, more, prices);
  const total = sum(bill) - sum(now.bill);
  return { total, withoutCompute: total - (computeOf(usage, bill) - computeOf(now.usage, now.bill)) };
}

function computeOf({ uses }: Usage, bill: readonly Billed[]): number {
  return bill[uses.findIndex(({ price }) => price === 'neon_unit_hour')]?.dollars ?? 0;
}

const NOTHING: Billed = { amount: 0, dollars: 0 };

/** In the order of the uses. What is free is shared by the uses of one price. */
function billOf({ uses }: Usage, { freeTiers }: Workload, prices: Prices): readonly Billed[] {
  return uses.map((use) => {
    const { price, amount } = use;
    const share = freeTiers ? paidShare(uses, price, prices[price].free) : 1;
    return { amount, dollars: dollarsFor(prices[price], amount) * share };
  });
}

function paidShare(uses: readonly Use[], price: PriceName, free: number): number {
  const amounts = uses.filter((use) => use.price === price).map(({ amount }) => amount);
  const total = amounts.reduce((so, amount) => so + amount, 0);
  return total <= free ? 0 : (total - free) / total;
}

function sum(bill: readonly Billed[]): number {
  return bill.reduce((total, { dollars }) => total + dollars, 0);
}
