import { ASSUMPTION_NAMES, ASSUMPTIONS, type AssumptionSource, DEFAULTS, flagOf } from './assumptions.ts';
import { PRICES, type Price, type PriceSource } from './prices.ts';

const SOURCES: Readonly<Record<AssumptionSource, string>> = {
  yours: 'yours to say',
  code: 'counted in the code',
  measured: 'measured',
  provider: 'a provider’s documentation',
  guess: 'a guess',
};

const PRICE_SOURCES: Readonly<Record<PriceSource, string>> = {
  provider: 'the provider’s documentation',
  quoted: 'quoted by others',
  given: 'yours',
};

/** All numbers of an estimate as two tables in Markdown, which also stand in docs/cost.md. */
export function explainNumbers(): readonly string[] {
  const flags = ASSUMPTION_NAMES.map((name) => {
    const { unit, about, from, host } = ASSUMPTIONS[name];
    const only = host === undefined ? '' : ` (${host} only)`;
    return `| \`--${flagOf(name)}\` | ${`${DEFAULTS[name]} ${unit}`.trim()} | ${about}${only} | ${SOURCES[from]} |`;
  });
  const prices = Object.entries<Price>(PRICES).map(([name, price]) => {
    const { what, unit, per, dollars, free, from, asOf } = price;
    const each = per === 'million' ? `a million ${unit}` : unit;
    const read = `${PRICE_SOURCES[from]}, ${asOf === '' ? 'undated' : asOf}`;
    return `| \`${name}\` | ${what} | ${dollars} | ${each} | ${free.toLocaleString('en')} | ${read} |`;
  });
  return [
    '| Flag | Default | Meaning | From |',
    '| --- | --- | --- | --- |',
    ...flags,
    '',
    '| Price | Of | Dollars | For | Free a month | Read in |',
    '| --- | --- | --- | --- | --- | --- |',
    ...prices,
  ];
}
