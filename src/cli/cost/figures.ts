/** Beyond it digits say nothing more. */
const LONG = 1e10;

/** `1,314,000`, `2.78`, `0.12`, `1.3e12`. */
export function amountText(amount: number): string {
  if (amount === 0) return '0';
  if (amount >= LONG) return amount.toExponential(1).replace('+', '');
  if (amount >= 100) return Math.round(amount).toLocaleString('en');
  return amount < 0.01 ? '<0.01' : Number(amount.toPrecision(3)).toString();
}

/** Dollars with cents; what is less than half a cent is not nothing. */
export function dollarsText(dollars: number): string {
  if (dollars === 0) return '0';
  if (dollars < 0.005) return '<0.01';
  if (dollars >= LONG) return dollars.toExponential(1).replace('+', '');
  return dollars.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
